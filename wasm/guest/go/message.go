// SPDX-License-Identifier: Apache-2.0

package guest

import "github.com/nervix-go/nervix/wasm/guest/go/internal/flat"

const identifier = "NVWY"

// maxMessage is the largest message or saved state, in bytes (W-044).
const maxMessage = 64 << 20

// variant is a member of the union of all messages.
type variant uint8

const (
	initPayload variant = iota + 1
	inputEnvelope
	outputEnvelope
	guestSnapshot
)

// open judges length, identifier and variant of a message and finds its payload, which has a number of members.
func open(message []byte, v variant, members uint32) (flat.Reader, flat.Table) {
	r := flat.NewReader(message)
	if len(message) < 12 || r.Get32(0) != uint32(len(message)-4) || string(message[8:12]) != identifier {
		r.Bad = true
		return r, flat.Table{}
	}
	root := r.TableAt(r.Follow(4), 2)
	if variant(r.U8(&root, 0)) != v {
		r.Bad = true
		return r, flat.Table{}
	}
	payload := r.Child(&root, 1, members)
	return r, payload
}

// readInit takes an init payload apart; nil if it is none. The texts are copies.
func readInit(message []byte) *Init {
	r, t := open(message, initPayload, 5)
	i := &Init{DomainName: string(r.Text(&t, 0)), DomainType: string(r.Text(&t, 1))}
	if key := r.Member(&t, 2, 4); key != 0 {
		i.Branched, i.BranchKey = true, string(r.Bytes(r.VectorAt(r.Follow(key), 1)))
		if i.BranchKey == "" {
			return nil
		}
	}
	i.Input = readSchema(&r, r.Child(&t, 3, 2))
	outputs := r.Vector(&t, 4, 4)
	for k := uint32(0); k < outputs.Count && !r.Bad; k++ {
		i.Outputs = append(i.Outputs, readSchema(&r, r.Element(outputs, k, 2)))
	}
	if !r.Closed() {
		return nil
	}
	return i
}

func readSchema(r *flat.Reader, t flat.Table) *Schema {
	s := &Schema{Name: string(r.Text(&t, 0))}
	fields := r.Vector(&t, 1, 4)
	for k := uint32(0); k < fields.Count && !r.Bad; k++ {
		one := r.Element(fields, k, 3)
		s.Fields = append(s.Fields, Field{Name: string(r.Text(&one, 0)), Type: readType(r, r.Child(&one, 1, 3), 0), Optional: r.U8(&one, 2) != 0})
	}
	return s
}

func readType(r *flat.Reader, t flat.Table, depth int) *Type {
	kind := Kind(r.U8(&t, 0))
	if r.Bad || kind > Vec || depth > 16 {
		r.Bad = true
		return &Type{}
	}
	typ := &Type{Kind: kind}
	if kind < Array {
		if r.Member(&t, 1, 4) != 0 {
			r.Child(&t, 1, 3)
		}
		return typ
	}
	if kind == Array {
		typ.Length = r.U32(&t, 2)
	}
	typ.Element = readType(r, r.Child(&t, 1, 3), depth+1)
	return typ
}

// The vtables that all messages of a guest begin with.
var messageVTables = []uint16{
	8, 12, 8, 4, // Message: payload_type, payload
	8, 12, 4, 8, // OutputEnvelope, NackSet, MessageErrorSet, GuestSnapshot
	10, 16, 4, 8, 12, // RoutedOutput
	8, 12, 8, 4, // OutputColumnRef: source, column_index
	12, 20, 4, 8, 12, 16, // AckSidecar
	8, 16, 4, 8, // OutputRow
	6, 16, 4, 0, // OutputRow without source, AckTokenSet
}

// Where they lie.
const (
	vtMessage = 12
	vtPair    = vtMessage + 8
	vtRouted  = vtPair + 8
	vtRef     = vtRouted + 10
	vtSidecar = vtRef + 8
	vtRow     = vtSidecar + 12
	vtTokens  = vtRow + 8
)

// beginMessage writes the head of a message whose payload is a table of two members, and says where that is.
func beginMessage(w *flat.Writer, v variant) uint32 {
	w.Zeros(8)
	w.B = append(w.B, identifier...)
	w.Add16(messageVTables...)
	w.Pad(4)
	message := w.Table(vtMessage, 12)
	w.Put32(4, message-4)
	w.B[message+8] = byte(v)
	w.Point(message + 4)
	return w.Table(vtPair, 12)
}

// endMessage writes the length.
func endMessage(w *flat.Writer) { w.Put32(0, w.Len()-4) }

// snapshot wraps the state that write appends, with the init payload of the instance (W-310).
func snapshot(w *flat.Writer, init []byte, write func(*StateWriter) error) error {
	t := beginMessage(w, guestSnapshot)
	w.Point(t + 4)
	w.Add32(uint32(len(init)))
	w.B = append(w.B, init...)
	w.Pad(4)
	w.Point(t + 8)
	length := w.Add32(0)
	state := StateWriter{out: w.B}
	if err := write(&state); err != nil {
		return err
	}
	w.B = state.out
	w.Put32(length, w.Len()-length-4)
	endMessage(w)
	return nil
}

// readSnapshot finds what snapshot wrapped; the reason says why it is none of this branch.
func readSnapshot(message []byte, of *Init) (state []byte, reason string) {
	r, t := open(message, guestSnapshot, 2)
	init, application := r.Vector(&t, 0, 1), r.Vector(&t, 1, 1)
	if !r.Closed() {
		return nil, "the saved bytes are no snapshot"
	}
	saved := readInit(r.Bytes(init))
	if saved == nil {
		return nil, "the snapshot does not say which branch it is of"
	}
	if !saved.sameBranch(of) {
		return nil, "the snapshot is of another branch, or of other schemas"
	}
	return r.Bytes(application), ""
}
