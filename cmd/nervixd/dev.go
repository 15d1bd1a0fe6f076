// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/nervix-go/nervix/host/edge/admin"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/observe"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/session/commands"
	"github.com/nervix-go/nervix/host/session/lanes"
	"github.com/nervix-go/nervix/host/session/transport"
	"github.com/nervix-go/nervix/host/users"
)

// devOptions are the flags of `nervixd dev`.
type devOptions struct {
	data, connectors, fileRoot string
	session, http, admin       string
	drain                      time.Duration
	logFormat                  string
	guests                     guestOptions
}

func devCommand() *cobra.Command {
	var o devOptions
	c := &cobra.Command{
		Use:   "dev --data DIR",
		Short: "Run one node",
		Long: `dev runs one node. It prints a line that begins with "nervixd ready" when it serves, and logs to standard error.

The data folder gets context.json, which tells the nervix command where the node is and how to log in:

  NERVIX_CONTEXT=DIR/context.json nervix status

SIGINT and SIGTERM stop intake and let admitted work settle. Exits: 0 drained, 1 failure, 2 usage, 3 data folder locked, foreign, newer or damaged.`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return dev(o) },
	}
	f := c.Flags()
	f.StringVar(&o.data, "data", "", "data folder, made when it is missing (required)")
	f.StringVar(&o.connectors, "connectors", "", "folder of connectors (default: connectors beside this binary)")
	f.StringVar(&o.session, "session-listen", "127.0.0.1:47391", "UDP address of client sessions; port 0 picks a free one")
	f.StringVar(&o.http, "http-listen", "127.0.0.1:47420", "TCP address of the HTTP listener, which serves nothing in this version")
	f.StringVar(&o.admin, "admin-listen", "127.0.0.1:47430", "TCP address of health, metrics and profiles")
	f.StringVar(&o.fileRoot, "file-root", "", "folder below which files may be read and written (default: the working directory)")
	f.DurationVar(&o.drain, "drain-timeout", 30*time.Second, "how long admitted work may settle on a stop")
	f.StringVar(&o.logFormat, "log-format", "text", "text or json")
	o.guests.flags(f)
	return c
}

func dev(o devOptions) error {
	log, err := prepare(&o)
	if err != nil {
		return err
	}
	ctx, stop := stopSignals()
	defer stop()
	n, err := openNode(ctx, nodeOptions{data: o.data, connectors: o.connectors, fileRoot: o.fileRoot, session: o.session, log: log, guests: o.guests})
	if err != nil {
		return err
	}
	l, err := listen(n, o)
	if err != nil {
		return errors.Join(err, n.close())
	}
	fmt.Printf("nervixd ready node=%s session=%s http=%s admin=%s\n", n.engine.NodeName(), l.sessionAddr, l.web.Addr(), l.admin.Addr())
	var failure error
	select {
	case <-ctx.Done():
		log.Info("stopping: intake ends, admitted work settles", "timeout", o.drain.String())
	case <-n.store.Failed():
		failure = n.store.Err()
		log.Error("the durable store failed; the node stops", "error", failure)
	}
	l.drain()
	n.drain(o.drain)
	l.close()
	if err := errors.Join(failure, n.close()); err != nil {
		return err
	}
	log.Info("stopped")
	return nil
}

// prepare checks the flags and makes the logger.
func prepare(o *devOptions) (*slog.Logger, error) {
	if o.data == "" {
		return nil, usage("--data names no folder")
	}
	log, err := observe.NewLogger(os.Stderr, o.logFormat)
	if err != nil {
		return nil, usage(err.Error())
	}
	if err := o.guests.check(); err != nil {
		return nil, err
	}
	if o.drain < 0 {
		return nil, usage("--drain-timeout is negative")
	}
	if o.fileRoot, err = fileRoot(o.fileRoot); err != nil {
		return nil, err
	}
	return log, nil
}

// fileRoot makes the folder absolute; it must exist.
func fileRoot(path string) (string, error) {
	if path == "" {
		path = "."
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return "", usage("--file-root: " + err.Error())
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return "", usage("--file-root " + path + " is not a folder")
	}
	return path, nil
}

// stopSignals gives a context that the first SIGTERM or SIGINT ends; a second one exits at once.
func stopSignals() (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	done := make(chan struct{})
	go func() {
		select {
		case <-signals:
		case <-done:
			return
		}
		cancel()
		select {
		case <-signals:
			fmt.Fprintln(os.Stderr, "nervixd: second signal, exiting at once")
			os.Exit(exitFailure)
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel()
		close(done)
	}
}

// listeners are the sockets of a node.
type listeners struct {
	judge       *users.Judge
	sessions    *transport.Server
	sessionAddr net.Addr
	web         *admin.Server
	admin       *admin.Server
}

// listen binds everything and writes context.json.
func listen(n *node, o devOptions) (l *listeners, err error) {
	l = &listeners{}
	defer func() {
		if err != nil {
			l.drain()
			l.close()
		}
	}()
	if l.judge, err = users.NewJudge(passwords{n.control}); err != nil {
		return l, err
	}
	host, _, err := net.SplitHostPort(o.session)
	if err != nil {
		return l, usage("--session-listen: " + err.Error())
	}
	certificates, err := n.dir.Certificates(osclock.UTC(), hostNames(host)...)
	if err != nil {
		return l, err
	}
	l.sessions = transport.NewServer(transport.Config{
		Node: n.engine.NodeName(), Incarnation: uint64(n.dir.Incarnation()),
		TLS:          &tls.Config{Certificates: []tls.Certificate{certificates.Server}},
		Authenticate: caseless{l.judge},
		Open: func(s transport.Opened) lanes.Handler {
			return commands.New(executor{n}, about{n}, s.User, ident.Domain(s.Domain))
		},
		Clocks:  sessionClocks{n.clocks},
		Uploads: streamedUploads{n.uploads},
		Log:     o.logger(n),
	})
	if l.sessionAddr, err = l.sessions.Listen(o.session, &certificates.ResetKey); err != nil {
		return l, fmt.Errorf("--session-listen: %w", err)
	}
	if l.web, err = serveHTTP(o.http, "--http-listen", n, func(s net.Listener) *admin.Server {
		return admin.Serve(s, n.options.log, http.NotFoundHandler())
	}); err != nil {
		return l, err
	}
	if l.admin, err = serveHTTP(o.admin, "--admin-listen", n, func(s net.Listener) *admin.Server {
		return admin.Start(s, n.options.log, observe.NewCollector(n.readings), n.checks())
	}); err != nil {
		return l, err
	}
	n.followPassword()
	_, err = n.dir.WriteContext("nervix://"+contextAddress(l.sessionAddr), certificates.CAPEM, n.admin)
	return l, err
}

func (o devOptions) logger(n *node) *slog.Logger { return n.options.log }

func serveHTTP(address, flag string, n *node, serve func(net.Listener) *admin.Server) (*admin.Server, error) {
	socket, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	return serve(socket), nil
}

// hostNames are names the certificate needs besides the local ones.
func hostNames(host string) []string {
	if host == "" || net.ParseIP(host).IsUnspecified() {
		return nil
	}
	return []string{host}
}

// contextAddress is where a client on this host reaches the listener.
func contextAddress(a net.Addr) string {
	u := a.(*net.UDPAddr)
	if u.IP.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", strconv.Itoa(u.Port))
	}
	return a.String()
}

// drain refuses new sessions and ends each one when its admitted requests have their replies.
func (l *listeners) drain() {
	if l.sessions != nil {
		l.sessions.Drain()
	}
}

func (l *listeners) close() {
	ctx, cancel := osclock.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if l.sessions != nil {
		grace, done := osclock.WithTimeout(ctx, time.Second)
		if l.sessions.Wait(grace) != nil {
			l.sessions.Abort()
			_ = l.sessions.Wait(ctx)
		}
		done()
	}
	for _, s := range []*admin.Server{l.web, l.admin} {
		if s != nil {
			_ = s.Close(ctx)
		}
	}
	if l.judge != nil {
		l.judge.Close()
	}
}
