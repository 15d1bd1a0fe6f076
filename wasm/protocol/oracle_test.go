// SPDX-License-Identifier: Apache-2.0

package protocol_test

import (
	"errors"

	"github.com/nervix-go/nervix/host/wire/verify"
	"github.com/nervix-go/nervix/wasm/protocol"
	"github.com/nervix-go/nervix/wasm/protocol/gen/nervix_wasm"
)

// shifted is the generated schema for a verifier whose alignment counts from behind the size prefix: 8-byte members are 4-aligned there.
var shifted = func() *verify.Schema {
	s := nervix_wasm.Schema
	s.Tables = append([]verify.Table(nil), s.Tables...)
	for i := range s.Tables {
		s.Tables[i].Fields = append([]verify.Field(nil), s.Tables[i].Fields...)
		for k := range s.Tables[i].Fields {
			if f := &s.Tables[i].Fields[k]; f.Size == 8 {
				f.Align = 4
			}
		}
	}
	return &s
}()

// oracle judges a whole message with the table-driven verifier alone. It does not know the alignment of 8-byte members.
func oracle(message []byte) error {
	if len(message) < 4 {
		return errors.New("short")
	}
	l := verify.Limits{MaxBytes: protocol.MaxBuffer, MaxDepth: 64, MaxEntries: protocol.MaxBuffer}
	err := verify.Verify(shifted, nervix_wasm.RootMessage, message[4:], l)
	var v *verify.Violation
	if errors.As(err, &v) && v.Rule == verify.RuleUnknownMember {
		l.Additive = true
		return verify.Verify(shifted, nervix_wasm.RootMessage, message[4:], l)
	}
	return err
}

func ruleOf(err error) verify.Rule {
	var v *verify.Violation
	if errors.As(err, &v) {
		return v.Rule
	}
	return ""
}
