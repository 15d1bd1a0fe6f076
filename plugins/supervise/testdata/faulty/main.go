// SPDX-License-Identifier: Apache-2.0

// Command faulty is a connector that fails on demand. Its kind is the name of its file; `mode` in the options says what goes wrong, and
// `once`, a path, makes it go wrong only as long as that file does not exist.
package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/go-plugin"
	"golang.org/x/sys/unix"

	"github.com/nervix-go/nervix/plugins/descriptor"
	pluginv1 "github.com/nervix-go/nervix/plugins/proto/v1"
	"github.com/nervix-go/nervix/plugins/sdk"
	"github.com/nervix-go/nervix/plugins/wire"
)

// A second way to the host, past the SDK.
var (
	raw   *wire.Conn
	rawFD int
)

func main() {
	kind := filepath.Base(os.Args[0])
	if len(os.Args) == 1 {
		atStart(kind)
		rawFD, _ = unix.Dup(pluginv1.DataFD)
		if fd, err := unix.Dup(pluginv1.DataFD); err == nil {
			if c, err := wire.FromFile(os.NewFile(uintptr(fd), "raw")); err == nil {
				raw = wire.New(c, wire.DefaultMaxBody)
			}
		}
	}
	options := []descriptor.Option{{Name: "mode", Type: "string"}, {Name: "once", Type: "path"}, {Name: "secret", Type: "string", Secret: true}}
	protocol := descriptor.Range{Min: 1, Max: 1}
	if kind == "ancient" {
		protocol = descriptor.Range{Min: 0, Max: 0}
	}
	c := sdk.Connector{
		Descriptor: descriptor.Descriptor{
			Kind: kind, Protocol: protocol,
			Source: &descriptor.Source{Options: options, Position: []string{"n"}},
			Sink:   &descriptor.Sink{Options: options},
		},
		Source: func() sdk.Source { return &source{} },
		Sink:   func() sdk.Sink { return &sink{} },
	}
	if kind == "pretends" && len(os.Args) == 1 { // a descriptor that promises more than the process has
		c.Sink, c.Descriptor.Sink = nil, nil
	}
	sdk.Serve(c)
}

func atStart(kind string) {
	switch kind {
	case "chatty": // output before the handshake (P-009)
		fmt.Println("starting up ...")
		fmt.Println("1|not|a|handshake")
		fmt.Print(strings.Repeat("x", 1<<20), "\n")
		_, _ = os.Stderr.WriteString(strings.Repeat("y", 1<<20) + "\n")
	case "silent":
		time.Sleep(time.Hour)
	case "dies":
		panic("cannot even start")
	case "quits":
		fmt.Fprintln(os.Stderr, "first words")
		fmt.Fprintln(os.Stderr, "no licence was found")
		os.Exit(3)
	case "vanishes": // ends right after its handshake: the host's calls find a socket that nobody ever serves
		socket := filepath.Join(os.Getenv(plugin.EnvUnixSocketDir), "vanishes")
		if _, err := net.Listen("unix", socket); err != nil {
			panic(err)
		}
		fmt.Fprintln(os.Stderr, "that was all")
		fmt.Printf("%d|%d|unix|%s|grpc\n", plugin.CoreProtocolVersion, pluginv1.Version, socket)
		os.Exit(9)
	case "liar": // a descriptor of today, a handshake of another version
		plugin.Serve(&plugin.ServeConfig{
			HandshakeConfig: plugin.HandshakeConfig{ProtocolVersion: 99, MagicCookieKey: pluginv1.Handshake.MagicCookieKey, MagicCookieValue: pluginv1.Handshake.MagicCookieValue},
			Plugins:         plugin.PluginSet{}, GRPCServer: plugin.DefaultGRPCServer,
		})
	}
}

// fault runs the mode if it names the call.
func fault(o map[string]string, call string) error {
	mode, ok := strings.CutSuffix(o["mode"], "_"+call)
	if !ok {
		return nil
	}
	if once := o["once"]; once != "" {
		if _, err := os.Stat(once); err == nil {
			return nil
		}
		_ = os.WriteFile(once, nil, 0o600)
	}
	switch mode {
	case "exit":
		os.Exit(7)
	case "panic":
		panic("told to panic in " + call)
	case "background":
		go func() { panic("told to panic in the background") }()
		time.Sleep(time.Hour)
	case "error":
		return errors.New("told to fail in " + call)
	case "hang":
		signal.Ignore(syscall.SIGTERM)
		time.Sleep(time.Hour)
	case "flood":
		go flood()
	case "garbage":
		dump([]byte(strings.Repeat("garbage!", 8)))
	case "huge":
		send(wire.Header{Kind: wire.KindBatch, Channel: 1, Arg: 1}, make([]byte, 80<<20))
	case "overdraw": // one frame: what is wrong with its body must not be found first
		send(wire.Header{Kind: wire.KindBatch, Channel: 1, Arg: 1 << 62}, make([]byte, 1000))
	case "stranger":
		send(wire.Header{Kind: wire.KindFinished, Channel: 4711}, nil)
	case "unasked":
		send(wire.Header{Kind: wire.KindAnswer, Channel: 1, Arg: 99}, wire.Answers{}.Append(nil))
	case "twice":
		send(wire.Header{Kind: wire.KindAnswer, Channel: 1, Arg: 1}, wire.Answers{List: []wire.Answer{{First: 0, Last: 1}, {First: 1, Last: 2}}}.Append(nil))
	case "foreign":
		send(wire.Header{Kind: wire.KindAnswer, Channel: 1, Arg: 1}, wire.Answers{List: []wire.Answer{{First: 0, Last: 1000}}}.Append(nil))
	case "child":
		c := exec.Command("sleep", "1000")
		if err := c.Start(); err != nil {
			panic(err)
		}
		fmt.Fprintln(os.Stderr, "child", c.Process.Pid)
	}
	return nil
}

func send(h wire.Header, body []byte) { _ = raw.Write(h, body) }

func dump(b []byte) { _, _ = unix.Write(rawFD, b) }

func flood() {
	long := strings.Repeat("z", 10_000) + "\n"
	for i := 0; ; i++ {
		_, _ = os.Stderr.WriteString("noise " + strconv.Itoa(i) + "\n" + long)
	}
}

// source delivers 1000 numbers after the position it resumes from.
type source struct {
	o map[string]string
	n uint64
}

func (s *source) Open(_ context.Context, r sdk.SourceRequest) (sdk.SourceOpened, error) {
	s.o = r.Options
	if len(r.Position) == 8 {
		s.n = binary.LittleEndian.Uint64(r.Position)
	}
	return sdk.SourceOpened{Identity: []byte("numbers")}, fault(s.o, "open")
}

func (s *source) Read(_ context.Context, b *sdk.Batch) error {
	if s.n >= 500 {
		if err := fault(s.o, "read"); err != nil {
			return err
		}
	}
	for range 100 {
		if s.n == 1000 || b.Full() {
			break
		}
		s.n++
		s.add(b, s.n)
	}
	if s.n == 1000 {
		return io.EOF
	}
	return nil
}

func (s *source) add(b *sdk.Batch, n uint64) {
	b.Append([]byte(strconv.FormatUint(n, 10)), binary.LittleEndian.AppendUint64(nil, n))
}

func (s *source) Reject(_ context.Context, position []byte, b *sdk.Batch) error {
	if err := fault(s.o, "reject"); err != nil {
		return err
	}
	s.add(b, binary.LittleEndian.Uint64(position))
	return nil
}

func (s *source) Acknowledge(context.Context, []byte) error { return fault(s.o, "ack") }

func (s *source) Close() error { return fault(s.o, "close") }

type sink struct{ o map[string]string }

func (s *sink) Open(_ context.Context, r sdk.SinkRequest) error {
	s.o = r.Options
	return fault(s.o, "open")
}

func (s *sink) Publish(_ context.Context, p sdk.Payloads, a *sdk.Answers) error {
	if err := fault(s.o, "publish"); err != nil {
		return err
	}
	switch s.o["mode"] {
	case "mute":
		return nil
	case "slow": // lasts until the test says so
		for _, err := os.Stat(s.o["once"] + ".go"); err != nil; _, err = os.Stat(s.o["once"] + ".go") {
			time.Sleep(10 * time.Millisecond)
		}
	}
	a.AllDelivered(p)
	return nil
}

func (s *sink) Close() error {
	if s.o["mode"] == "slow" {
		return os.WriteFile(s.o["once"], nil, 0o600)
	}
	return fault(s.o, "close")
}
