// SPDX-License-Identifier: Apache-2.0

package admin

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/nervix-go/nervix/host/observe"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// get asks without keeping a connection.
func get(t *testing.T, s *Server, path string) (int, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := client.Get("http://" + s.Addr().String() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(body)
}

func TestEndpoints(t *testing.T) {
	var broken error
	checks := []Check{{"leader", func() error { return nil }}, {"store", func() error { return broken }}}
	readings := func() []observe.Reading {
		return []observe.Reading{
			{Metric: observe.MessagesTotal, Value: 7, Labels: []string{"farm", "RELAY", "readings", "n1", "in"}},
			{Metric: observe.RelayBufferLen, Value: 3, Labels: []string{"farm", "RELAY", "readings", "n1"}},
			{Metric: observe.ConnectorRestartsTotal, Value: 2, Labels: []string{"file", "n1"}},
		}
	}
	s := Start(listen(t), slog.New(slog.DiscardHandler), observe.NewCollector(readings), checks)
	defer func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	want := func(path string, status int, parts ...string) {
		t.Helper()
		code, body := get(t, s, path)
		if code != status {
			t.Errorf("%s: %d, want %d", path, code, status)
		}
		for _, p := range parts {
			if !strings.Contains(body, p) {
				t.Errorf("%s lacks %q:\n%s", path, p, body)
			}
		}
	}
	want("/livez", 200, "ok\n")
	want("/readyz", 200, "ok\n")
	want("/readyz?verbose", 200, "[+] leader\n", "[+] store\n")
	broken = errors.New("the disk is gone")
	want("/livez", 200, "ok\n")
	want("/readyz", 503, "[+] leader\n", "[-] store: the disk is gone\n")
	want("/readyz?verbose", 503, "[-] store: the disk is gone\n")
	broken = nil
	want("/readyz", 200)
	want("/metrics", 200,
		`nervix_messages_total{direction="in",domain="farm",kind="RELAY",name="readings",node="n1"} 7`+"\n",
		"# TYPE nervix_messages_total counter\n", "# TYPE nervix_relay_buffer_len gauge\n", `nervix_connector_restarts_total{kind="file",node="n1"} 2`, "go_goroutines")
	want("/debug/pprof/", 200, "goroutine")
	want("/", 404)
	r, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Post("http://"+s.Addr().String()+"/livez", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST /livez: %d", r.StatusCode)
	}
}

// Close waits for what is served and is bounded by its context; then nothing listens any more.
func TestCloseIsBounded(t *testing.T) {
	l := listen(t)
	entered, release := make(chan struct{}), make(chan struct{})
	s := Serve(l, slog.New(slog.DiscardHandler), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(entered)
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	asked := make(chan error, 1)
	go func() {
		r, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get("http://" + s.Addr().String() + "/")
		if err == nil {
			r.Body.Close()
		}
		asked <- err
	}()
	<-entered
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if err := s.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	close(release)
	if err := <-asked; err == nil {
		t.Error("a request survived the end of its server")
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) { // listening again would tell less: anybody may have the port by now
		t.Errorf("the listener is not closed: %v", err)
	}
}

// A listener that breaks is told in the log, with its address.
func TestListenerThatEnds(t *testing.T) {
	l := listen(t)
	var log bytes.Buffer
	s := Serve(l, slog.New(slog.NewTextHandler(&log, nil)), http.NotFoundHandler())
	l.Close()
	<-s.done
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if text := log.String(); !strings.Contains(text, "http listener ended") || !strings.Contains(text, s.Addr().String()) {
		t.Errorf("log: %s", text)
	}
}
