// SPDX-License-Identifier: Apache-2.0

package wire_test

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/wire"
	"github.com/nervix-go/nervix/host/wire/verify"
)

// member is a slot of a hand-made table: a scalar, a string, a vector of strings, or the offset of something built before.
type member struct {
	slot  int
	value any
}

// table builds a table out of raw slots, so that tests can leave out or forge members.
func table(b *flatbuffers.Builder, members ...member) flatbuffers.UOffsetT {
	made := make([]flatbuffers.UOffsetT, len(members))
	slots := 0
	for i, m := range members {
		slots = max(slots, m.slot+1)
		switch v := m.value.(type) {
		case string:
			made[i] = b.CreateString(v)
		case []string:
			made[i] = texts(b, v)
		case flatbuffers.UOffsetT:
			made[i] = v
		}
	}
	b.StartObject(slots)
	for i, m := range members {
		switch v := m.value.(type) {
		case byte:
			b.PrependByte(v)
		case uint32:
			b.PrependUint32(v)
		case uint64:
			b.PrependUint64(v)
		default:
			b.PrependUOffsetT(made[i])
		}
		b.Slot(m.slot)
	}
	return b.EndObject()
}

func texts(b *flatbuffers.Builder, list []string) flatbuffers.UOffsetT {
	offsets := make([]flatbuffers.UOffsetT, len(list))
	for i, s := range list {
		offsets[i] = b.CreateString(s)
	}
	return references(b, offsets)
}

func references(b *flatbuffers.Builder, offsets []flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	b.StartVector(4, len(offsets), 4)
	for i := len(offsets) - 1; i >= 0; i-- {
		b.PrependUOffsetT(offsets[i])
	}
	return b.EndVector(len(offsets))
}

// rawFrame builds a frame with the given identifier, body type and body.
func rawFrame(identifier string, bodyType byte, body func(b *flatbuffers.Builder) flatbuffers.UOffsetT) []byte {
	b := flatbuffers.NewBuilder(256)
	at := body(b)
	root := table(b, member{0, bodyType}, member{1, at}, member{2, uint64(7)})
	b.FinishWithFileIdentifier(root, []byte(identifier))
	return b.FinishedBytes()
}

// rawUnsolicited is a frame without request identity whose body names a domain and has a clock made of raw slots.
func rawUnsolicited(bodyType byte, clock []member) []byte {
	b := flatbuffers.NewBuilder(256)
	inner := table(b, clock...)
	body := table(b, member{0, "d"}, member{1, inner})
	root := table(b, member{0, bodyType}, member{1, body})
	b.FinishWithFileIdentifier(root, []byte("NXSM"))
	return b.FinishedBytes()
}

type (
	builder = flatbuffers.Builder
	offset  = flatbuffers.UOffsetT
)

// rawUpload is a client frame of an upload stream with a hand-made body.
func rawUpload(bodyType byte, body func(b *builder) offset) []byte {
	b := flatbuffers.NewBuilder(256)
	at := body(b)
	root := table(b, member{0, bodyType}, member{1, at})
	b.FinishWithFileIdentifier(root, []byte("NXUM"))
	return b.FinishedBytes()
}

func bytesOf(b *builder, n int) offset { return b.CreateByteVector(make([]byte, n)) }

// Numbers of the unions in session.fbs.
const (
	typeHello, typeCommand, typeCancel                     = 1, 2, 5
	typeHelloReply, typeOutcome, typeCancelled, typeEnding = 1, 2, 7, 8
	typeObserved                                           = 12
)

func outcomeWith(members ...member) func(*flatbuffers.Builder) flatbuffers.UOffsetT {
	return func(b *flatbuffers.Builder) flatbuffers.UOffsetT {
		return table(b, append([]member{{0, byte(1)}, {1, "r"}}, members...)...)
	}
}

func commandWith(members ...member) func(*flatbuffers.Builder) flatbuffers.UOffsetT {
	return func(b *flatbuffers.Builder) flatbuffers.UOffsetT { return table(b, members...) }
}

func goodCommand() []byte {
	frame, err := wire.EncodeClient(wire.ClientFrame{RequestID: 7, Body: wire.CommandRequest{Reference: "ref", Domain: "dom",
		Text: "SHOW", Format: wire.FormatText}}, wire.DefaultFrameLimit)
	if err != nil {
		panic(err)
	}
	return frame
}

// poke returns a copy with one byte replaced.
func poke(frame []byte, at int, b byte) []byte {
	out := append([]byte(nil), frame...)
	out[at] = b
	return out
}

func put16(frame []byte, at int, v uint16) []byte {
	out := append([]byte(nil), frame...)
	binary.LittleEndian.PutUint16(out[at:], v)
	return out
}

func put32(frame []byte, at int, v uint32) []byte {
	out := append([]byte(nil), frame...)
	binary.LittleEndian.PutUint32(out[at:], v)
	return out
}

// TestOneFrameForEachRule has a frame for every rule of the verifier; the frame breaks that rule and no earlier one.
func TestOneFrameForEachRule(t *testing.T) {
	// req: X-026 half: identifiers of exchange and uploads; those of backup and restore do not exist
	// req: X-027
	// req: X-028
	good := goodCommand()
	root := int(binary.LittleEndian.Uint32(good))
	vtable := root - int(int32(binary.LittleEndian.Uint32(good[root:])))
	text := strings.Index(string(good), "SHOW")
	full := []member{{0, "ref"}, {2, "SHOW"}, {3, byte(1)}}
	many := strings.Split(strings.Repeat("a,", 200)+"a", ",")
	cases := []struct {
		name   string
		rule   verify.Rule
		client bool
		frame  []byte
	}{
		{"size limit", verify.RuleTooLarge, true, make([]byte, 2<<20)},
		{"seven bytes", verify.RuleTooShort, true, good[:7]},
		{"server identifier", verify.RuleIdentifier, true, append(append(append([]byte(nil), good[:4]...), "NXSM"...), good[8:]...)},
		{"size prefix", verify.RuleIdentifier, true, wire.AppendFrame(nil, good)},
		{"root offset", verify.RuleOffset, true, put32(good, 0, uint32(len(good)))},
		{"root offset zero", verify.RuleOffset, true, put32(good, 0, 0)},
		{"root offset unaligned", verify.RuleAlignment, true, put32(good, 0, uint32(root+1))},
		{"vtable outside", verify.RuleVtable, true, put32(good, root, uint32(root+8))},
		{"vtable unaligned", verify.RuleAlignment, true, put32(good, root, uint32(root-vtable+1))},
		{"vtable too short", verify.RuleVtable, true, put16(good, vtable, 2)},
		{"vtable odd", verify.RuleVtable, true, put16(good, vtable, 9)},
		{"table beyond the frame", verify.RuleVtable, true, put16(good, vtable+2, 0xfff0)},
		{"member beyond the table", verify.RuleVtable, true, put16(good, vtable+4, 0x100)},
		{"scalar unaligned", verify.RuleAlignment, true, put16(good, vtable+8, binary.LittleEndian.Uint16(good[vtable+8:])+1)},
		{"string length", verify.RuleOffset, true, put32(good, text-4, 0x7fffffff)},
		{"string terminator", verify.RuleTerminator, true, poke(good, text+4, 'x')},
		{"string not UTF-8", verify.RuleText, true, poke(good, text, 0xff)},
		{"two frames in one", verify.RuleTrailing, true, append(append([]byte(nil), good...), good...)},
		{"one byte behind the frame", verify.RuleTrailing, true, append(append([]byte(nil), good...), 'x')},
		{"unknown member", verify.RuleUnknownMember, true, rawFrame("NXCM", typeCommand, commandWith(append(full, member{9, byte(1)})...))},
		{"required string", verify.RuleRequired, true, rawFrame("NXCM", typeCommand, commandWith(member{0, "r"}, member{3, byte(1)}))},
		{"required optional scalar", verify.RuleRequired, true, rawFrame("NXCM", typeCommand, commandWith(full[:2]...))},
		{"empty string", verify.RuleEmpty, true, rawFrame("NXCM", typeCommand, commandWith(member{0, ""}, full[1], full[2]))},
		{"enum value", verify.RuleEnum, true, rawFrame("NXCM", typeCommand, commandWith(full[0], full[1], member{3, byte(3)}))},
		{"enum value zero", verify.RuleEnum, true, rawFrame("NXCM", typeCommand, commandWith(full[0], full[1], member{3, byte(0)}))},
		{"string too long", verify.RuleLength, true, rawFrame("NXCM", typeCommand, commandWith(member{0, strings.Repeat("r", 129)}, full[1], full[2]))},
		{"forbidden zero", verify.RuleZero, true, rawFrame("NXCM", typeCancel, commandWith(member{0, uint64(0)}))},
		{"forbidden zero by absence", verify.RuleZero, true, rawFrame("NXCM", typeCancel, commandWith())},
		{"union type", verify.RuleUnion, true, rawFrame("NXCM", 99, commandWith())},
		{"union NONE", verify.RuleRequired, true, rawFrame("NXCM", 0, commandWith())},
		{"bool", verify.RuleBool, false, rawFrame("NXSM", typeOutcome, outcomeWith(member{2, byte(2)}))},
		{"set not ascending", verify.RuleCanonical, false, rawFrame("NXSM", typeHelloReply, helloReplyWith("b", "a"))},
		{"set with a duplicate", verify.RuleCanonical, false, rawFrame("NXSM", typeHelloReply, helloReplyWith("a", "a"))},
		{"one string named many times", verify.RuleSize, false, rawFrame("NXSM", typeOutcome, sharedTexts(strings.Repeat("x", 500), many))},
		{"one table named many times", verify.RuleSize, false, rawFrame("NXSM", typeOutcome, sharedStatements(30_000))},
		{"one large table named many times", verify.RuleSize, false, rawFrame("NXSM", typeOutcome, sharedLargeTable(200, 2_000))},
		{"vector entries", verify.RuleEntries, false, rawFrame("NXSM", typeOutcome, sharedStatements(262_145))},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			limit := 1 << 20
			if c.rule == verify.RuleEntries {
				limit = wire.DefaultFrameLimit
			}
			err := verifyFrame(c.client, c.frame, limit)
			var v *verify.Violation
			if c.rule == verify.RuleTooLarge && fault.CodeOf(err) == fault.WireTooLarge {
				return
			}
			if fault.CodeOf(err) != fault.WireInvalid || !errors.As(err, &v) || v.Rule != c.rule {
				t.Fatalf("got %v, want %q", err, c.rule)
			}
		})
	}
}

func verifyFrame(client bool, frame []byte, limit int) error {
	if client {
		_, err := wire.DecodeClient(frame, limit)
		return err
	}
	_, err := wire.DecodeServer(frame, limit)
	return err
}

func helloReplyWith(features ...string) func(*flatbuffers.Builder) flatbuffers.UOffsetT {
	return func(b *flatbuffers.Builder) flatbuffers.UOffsetT {
		return table(b, member{0, "n"}, member{1, uint64(1)}, member{2, uint32(1)}, member{3, uint32(1)}, member{4, uint32(1)},
			member{5, features}, member{6, uint32(1024)})
	}
}

// sharedTexts is an outcome with one diagnostic whose expected list names the same string again and again.
func sharedTexts(text string, list []string) func(*flatbuffers.Builder) flatbuffers.UOffsetT {
	return func(b *flatbuffers.Builder) flatbuffers.UOffsetT {
		one := b.CreateString(text)
		offsets := make([]flatbuffers.UOffsetT, len(list))
		for i := range offsets {
			offsets[i] = one
		}
		expected := references(b, offsets)
		d := table(b, member{0, "a.b"}, member{1, "m"}, member{6, expected})
		diagnostics := references(b, []flatbuffers.UOffsetT{d})
		return outcomeWith(member{7, diagnostics})(b)
	}
}

// sharedStatements is an outcome whose statements are one table, named n times.
func sharedStatements(n int) func(*flatbuffers.Builder) flatbuffers.UOffsetT {
	return func(b *flatbuffers.Builder) flatbuffers.UOffsetT {
		one := table(b, member{1, byte(1)})
		offsets := make([]flatbuffers.UOffsetT, n)
		for i := range offsets {
			offsets[i] = one
		}
		return outcomeWith(member{6, references(b, offsets)})(b)
	}
}

// sharedLargeTable is an outcome whose statements are one table of many inline bytes, named n times: little to decode, much to look at.
func sharedLargeTable(n, inline int) func(*flatbuffers.Builder) flatbuffers.UOffsetT {
	return func(b *flatbuffers.Builder) flatbuffers.UOffsetT {
		b.StartObject(2)
		for range inline {
			b.PrependByte(0)
		}
		b.PrependByte(1)
		b.Slot(1)
		one := b.EndObject()
		offsets := make([]flatbuffers.UOffsetT, n)
		for i := range offsets {
			offsets[i] = one
		}
		return outcomeWith(member{6, references(b, offsets)})(b)
	}
}
