// SPDX-License-Identifier: Apache-2.0

package badinput

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/nervix-go/nervix/client"
	"github.com/nervix-go/nervix/test/nodes"
)

// TestBadSessions gives the session port what no client sends. Each is refused for itself; a session that is open notices nothing.
func TestBadSessions(t *testing.T) {
	n := nodes.Start(t, nodes.Options{Data: t.TempDir() + "/data", Root: t.TempDir()})
	s := n.Dial()
	s.Do("CREATE DOMAIN d;\nUSE d")

	t.Run("wrong password", func(t *testing.T) {
		config := n.Config()
		config.Password = "sekret-guess"
		_, err := client.Dial(t.Context(), config)
		if !errors.Is(err, client.ErrAuthentication) {
			t.Errorf("a wrong password: %v", err)
		}
		config.User, config.Password = "nobody", ""
		if _, err := client.Dial(t.Context(), config); !errors.Is(err, client.ErrAuthentication) {
			t.Errorf("an unknown user: %v", err)
		}
		if strings.Contains(n.Log(), "sekret-guess") {
			t.Error("the log holds the password that was tried")
		}
	})
	t.Run("wrong authority", func(t *testing.T) {
		config := n.Config()
		config.CAPEM = nil
		if _, err := client.Dial(t.Context(), config); !errors.Is(err, client.ErrTLS) {
			t.Errorf("a node whose authority is not known: %v", err)
		}
	})
	t.Run("garbage datagrams", func(t *testing.T) {
		c, err := net.Dial("udp", n.Session)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		random := rand.New(rand.NewPCG(1, 2))
		for range 500 {
			b := make([]byte, 1+random.IntN(1400))
			for i := range b {
				b[i] = byte(random.Uint32())
			}
			_, _ = c.Write(b)
		}
	})
	const frameTooLarge, invalidFrame, protocolViolated = 4, 5, 3
	noise := strings.Repeat("\xa5", 200)
	for _, c := range []struct {
		name  string
		bytes []byte
		codes []quic.ApplicationErrorCode
	}{
		{"oversized frame", binary.LittleEndian.AppendUint32(nil, 0xffffffff), []quic.ApplicationErrorCode{frameTooLarge}},
		{"frame above the limit before the greeting", binary.LittleEndian.AppendUint32(nil, 5<<10), []quic.ApplicationErrorCode{frameTooLarge}},
		{"frame of noise", append(binary.LittleEndian.AppendUint32(nil, 200), noise...), []quic.ApplicationErrorCode{invalidFrame}},
		{"empty frame", make([]byte, 4), []quic.ApplicationErrorCode{invalidFrame}},
		{"noise without an end", []byte(noise), []quic.ApplicationErrorCode{frameTooLarge, invalidFrame}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if code := tell(t, n, c.bytes); code != c.codes[0] && code != c.codes[len(c.codes)-1] {
				t.Errorf("the session ended with code %d, want one of %v", code, c.codes)
			}
		})
	}
	t.Run("unknown statement", func(t *testing.T) {
		text := s.Refused("CREATE ELEPHANT e")
		expect(t, text, "ELEPHANT", "RELAY", "INGESTOR")
		expect(t, s.Refused("FROBNICATE"), "FROBNICATE", "CREATE")
		expect(t, s.Refused("CREATE RELAY r SCHEMA nowhere UNBRANCHED"), "nowhere")
	})
	s.Do("CREATE SCHEMA still_here (a I64)")
	n.Stop()
	_ = protocolViolated
}

// tell opens a connection to the session port, says something on its first stream, and gives the code that ends the connection.
func tell(t *testing.T, n *nodes.Node, text []byte) quic.ApplicationErrorCode {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(n.Credentials().CA))
	c, err := quic.DialAddr(ctx, n.Session, &tls.Config{RootCAs: roots, NextProtos: []string{"nervix-session/1"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseWithError(0, "")
	stream, err := c.OpenStreamSync(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Write(text); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, stream)
	<-c.Context().Done()
	var ended *quic.ApplicationError
	if err := context.Cause(c.Context()); !errors.As(err, &ended) || !ended.Remote {
		t.Fatalf("the connection ended with %v", err)
	}
	return ended.ErrorCode
}

// TestBadPrograms runs files that are no programs: nothing is applied, the place is named.
func TestBadPrograms(t *testing.T) {
	for _, c := range []struct {
		name, text string
		code       int
		names      []string
	}{
		{"unknown statement", "CREATE DOMAIN d;\nFROBNICATE d;\n", 0, []string{"line 2", "FROBNICATE"}},
		{"unfinished", "CREATE DOMAIN d;\nCREATE SCHEMA s (a", 0, []string{"line 2"}},
		{"unknown reference", "CREATE DOMAIN d;\nUSE d;\nCREATE RELAY r SCHEMA nowhere UNBRANCHED;\n", 1, []string{"line 3", "nowhere"}},
		{"no connector", "CREATE DOMAIN d;\nUSE d;\nCREATE CLIENT c TYPE KAFKA CONFIG { 'a' = 'b' };\n", 0, []string{"line 3"}},
		{"root outside the file root", "CREATE DOMAIN d;\nUSE d;\nCREATE CLIENT c TYPE FILE CONFIG { 'root' = '/etc' };\n", 1, []string{"line 3", "file root"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			nodes.WriteFile(t, root+"/p.nspl", []byte(c.text))
			done := nodes.Run(t, root, "run", root+"/p.nspl")
			if done.Code != 1 && done.Code != 2 || c.code != 0 && done.Code != c.code {
				t.Errorf("exit %d, want %d", done.Code, c.code)
			}
			expect(t, done.Stderr, c.names...)
		})
	}
	missing := nodes.Run(t, t.TempDir(), "run", "/absent/p.nspl")
	if missing.Code != 1 {
		t.Errorf("exit %d for a missing file", missing.Code)
	}
	expect(t, missing.Stderr, "/absent/p.nspl", "no such file")
}
