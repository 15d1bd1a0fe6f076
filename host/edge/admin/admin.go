// SPDX-License-Identifier: Apache-2.0

// Package admin is the operators' HTTP endpoint of a node: /livez, /readyz, /metrics and /debug/pprof. It says nothing about records and
// takes no command.
package admin

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Check is one readiness check: nil means ready.
type Check struct {
	Name  string
	Ready func() error
}

// Server is a running admin endpoint.
type Server struct {
	http *http.Server
	addr net.Addr
	done chan struct{}
}

// Start serves on a listener, which passes to the server. The checks are asked on every /readyz.
func Start(listener net.Listener, log *slog.Logger, collector prometheus.Collector, checks []Check) *Server {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", ready(checks))
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return Serve(listener, log, mux)
}

// Serve runs a handler on a listener until Close.
func Serve(listener net.Listener, log *slog.Logger, handler http.Handler) *Server {
	s := &Server{
		http: &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)},
		addr: listener.Addr(),
		done: make(chan struct{}),
	}
	go func() {
		defer close(s.done)
		if err := s.http.Serve(listener); err != nil && err != http.ErrServerClosed {
			log.Error("http listener ended", "address", s.addr.String(), "error", err)
		}
	}()
	return s
}

// Addr is the bound address.
func (s *Server) Addr() net.Addr { return s.addr }

// Close ends the server and waits for its goroutine.
func (s *Server) Close(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	if err != nil {
		s.http.Close()
	}
	<-s.done
	return err
}

func ready(checks []Check) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var text strings.Builder
		status := http.StatusOK
		for _, c := range checks {
			if err := c.Ready(); err != nil {
				status = http.StatusServiceUnavailable
				fmt.Fprintf(&text, "[-] %s: %v\n", c.Name, err)
				continue
			}
			fmt.Fprintf(&text, "[+] %s\n", c.Name)
		}
		w.WriteHeader(status)
		if _, verbose := r.URL.Query()["verbose"]; verbose || status != http.StatusOK {
			fmt.Fprint(w, text.String())
			return
		}
		fmt.Fprintln(w, "ok")
	}
}
