// SPDX-License-Identifier: Apache-2.0

package ast_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/host/nspl/ast"
)

var (
	_ ast.Definition = (*ast.CreateDomain)(nil)
	_ ast.Definition = (*ast.CreateSchema)(nil)
	_ ast.Definition = (*ast.CreateWire)(nil)
	_ ast.Definition = (*ast.CreateCodec)(nil)
	_ ast.Definition = (*ast.CreateBranch)(nil)
	_ ast.Definition = (*ast.CreateRelay)(nil)
	_ ast.Definition = (*ast.CreateClient)(nil)
	_ ast.Definition = (*ast.CreateIngestor)(nil)
	_ ast.Definition = (*ast.CreateJunction)(nil)
	_ ast.Definition = (*ast.CreateResource)(nil)
	_ ast.Definition = (*ast.CreateWASM)(nil)
	_ ast.Definition = (*ast.CreateEmitter)(nil)
)

func TestSecretNeverPrints(t *testing.T) {
	secret := ast.NewSecret("hunter2")
	user := &ast.CreateUser{Password: secret}
	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		fmt.Fprintf(&out, verb+" ", secret)
		fmt.Fprintf(&out, verb+" ", user)
	}
	encoded, err := json.Marshal(user)
	if err != nil {
		t.Fatal(err)
	}
	out.Write(encoded)
	for _, leak := range []string{"hunter2", "68756e74657232", "68756E74657232"} {
		if strings.Contains(out.String(), leak) {
			t.Errorf("the password shows in %s", out.String())
		}
	}
	if secret.Reveal() != "hunter2" {
		t.Error("Reveal lost the password")
	}
}
