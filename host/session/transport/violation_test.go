// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/nervix-go/nervix/host/session/lanes"
	"github.com/nervix-go/nervix/host/wire"
	"github.com/quic-go/quic-go"
)

// TestBadFramesEndTheirSessionOnly: each kind has its own ending, on either lane, and no other session notices.
func TestBadFramesEndTheirSessionOnly(t *testing.T) {
	// req: X-008 half: memory is measured in host/wire
	// req: X-009 half: no WebSocket; the client's part is in client
	// req: X-010
	const identity = 0x0807060504030201
	good := encode(t, wire.ClientFrame{RequestID: identity, Body: command("ok")})
	// The encoder refuses a zero identity, so its bytes are wiped.
	zero := bytes.Replace(good, binary.LittleEndian.AppendUint64(nil, identity), make([]byte, 8), 1)
	foreign := bytes.Replace(good, []byte("NXCM"), []byte("NXSM"), 1)
	cases := []struct {
		name   string
		bytes  []byte
		finish bool
		reason wire.EndingReason
	}{
		{"frame of 1 MiB and a byte", []byte{1, 0, 16, 0}, false, wire.EndingFrameTooLarge},
		{"frame of 4 GiB", []byte{255, 255, 255, 255}, false, wire.EndingFrameTooLarge},
		{"garbage", wire.AppendFrame(nil, []byte("this is no frame at all, is it?")), false, wire.EndingInvalidFrame},
		{"server identifier", foreign, false, wire.EndingInvalidFrame},
		{"size prefix inside", wire.AppendFrame(nil, good), false, wire.EndingInvalidFrame},
		{"cut", good[:len(good)-5], true, wire.EndingInvalidFrame},
		{"request identity zero", zero, false, wire.EndingProtocolViolated},
		{"a second Hello", encode(t, wire.ClientFrame{Body: hello(password)}), false, wire.EndingProtocolViolated},
	}
	n := serve(t, nil)
	beside := n.login(t)
	for _, c := range cases {
		for _, lane := range []lanes.Lane{lanes.Ordered, lanes.Control} {
			t.Run(c.name+" on the "+lane.String(), func(t *testing.T) {
				p := n.login(t)
				_, _ = p.lane(lane).Write(c.bytes) // the node may stop reading before we are through
				if c.finish {
					_ = p.lane(lane).Close()
				}
				if e := p.ending(); e.Reason != c.reason {
					t.Fatalf("got %+v, want %v", e, c.reason)
				}
				beside.send(command("ok"))
				if out := beside.read(lanes.Ordered).Body.(wire.CommandOutcome); out.Disposition != wire.DispositionCompleted {
					t.Fatalf("the session beside: %+v", out)
				}
			})
		}
	}
}

// TestEveryFlippedByteIsSurvived sends each single-byte damage of a command; the node serves on after each.
func TestEveryFlippedByteIsSurvived(t *testing.T) {
	n := serve(t, nil)
	good := encode(t, wire.ClientFrame{RequestID: 9, Body: command("ok")})
	for at := 4; at < len(good); at += 3 {
		p := n.login(t)
		bad := append([]byte(nil), good...)
		bad[at] ^= 0x41
		_, _ = p.lanes[0].Write(bad)
		switch body := p.read(lanes.Ordered).Body.(type) {
		case wire.SessionEnding, wire.CommandOutcome, wire.RequestRejected: // damage of the text or reference is no damage of the frame
		default:
			t.Fatalf("byte %d: %T", at, body)
		}
		_ = p.conn.CloseWithError(0, "")
	}
	n.works(t)
}

func TestThereIsNoThirdLane(t *testing.T) {
	n := serve(t, nil)
	p := n.login(t)
	p.send(wire.StatusRequest{})
	p.read(lanes.Control)
	if _, err := p.conn.OpenStream(); err == nil {
		t.Error("a third stream could be opened")
	}
	if _, err := p.conn.OpenUniStream(); err == nil {
		t.Error("a unidirectional stream could be opened")
	}
	// Also not in place of a lane that ended.
	_ = p.lanes[lanes.Control].Close()
	if e := drainToEnd(p); e != 0 {
		t.Errorf("closing a lane ended the session with %v", e)
	}
}

// drainToEnd waits for the end of the connection and gives its code.
func drainToEnd(p *peer) wire.EndingReason {
	<-p.conn.Context().Done()
	var code quic.ApplicationErrorCode
	if e, ok := asApplication(p.conn); ok {
		code = e.ErrorCode
	}
	return wire.EndingReason(code)
}
