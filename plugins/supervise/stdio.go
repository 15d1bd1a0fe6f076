// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/osclock"
)

// Bounds of what a connector may say (P-009): more is dropped and counted, and nothing it says slows the data path.
const (
	maxLine       = 64 << 10  // bytes of a line that are kept
	maxLogged     = 4 << 10   // bytes of a line in the log
	maxTrace      = 256 << 10 // bytes of a panic trace that are kept
	linesPerSec   = 100
	lineBurst     = 400
	keptLines     = 20
	reportDropped = 5 * time.Second
)

// scribe turns the standard error (and stray standard output) of one process into log records. Its readers never wait for it.
type scribe struct {
	log *slog.Logger

	mu struct {
		sync.Mutex
		last     []string // the last lines, for status (B04)
		trace    []byte   // a panic and everything after it
		panicked bool
		tokens   float64
		filled   vtime.Mono
		dropped  uint64
		reported vtime.Mono
	}
}

func newScribe(log *slog.Logger) *scribe {
	s := &scribe{log: log}
	s.mu.tokens, s.mu.filled, s.mu.reported = lineBurst, osclock.Mono(), osclock.Mono()
	return s
}

// readLines gives each line of r without its end, cut at maxLine, until r ends.
func readLines(r io.Reader, each func(line []byte)) {
	in := bufio.NewReaderSize(r, maxLine)
	cut := false
	for {
		line, err := in.ReadSlice('\n')
		switch {
		case err == bufio.ErrBufferFull && !cut:
			each(line)
			cut = true
		case err == bufio.ErrBufferFull: // the rest of a long line is dropped
		case cut:
			cut = false
		case len(line) > 0:
			each([]byte(strings.TrimRight(string(line), "\r\n")))
		}
		if err != nil && err != bufio.ErrBufferFull {
			return
		}
	}
}

// line takes one line.
func (s *scribe) line(b []byte) {
	text := printable(b, maxLogged)
	s.mu.Lock()
	if !s.mu.panicked && startsPanic(b) {
		s.mu.panicked = true
	}
	if len(s.mu.last) == keptLines {
		s.mu.last = append(s.mu.last[:0], s.mu.last[1:]...)
	}
	s.mu.last = append(s.mu.last, text)
	if s.mu.panicked {
		if len(s.mu.trace)+len(b) < maxTrace {
			s.mu.trace = append(append(s.mu.trace, b...), '\n')
		}
		s.mu.Unlock()
		return
	}
	ok, dropped := s.admitLocked()
	s.mu.Unlock()
	if dropped > 0 {
		s.log.Warn("connector logs too much, lines were dropped", "dropped", dropped)
	}
	if ok {
		s.emit(b, text)
	}
}

// admitLocked is a token bucket. dropped is nonzero when a report is due.
func (s *scribe) admitLocked() (ok bool, dropped uint64) {
	now := osclock.Mono()
	s.mu.tokens = min(lineBurst, s.mu.tokens+now.Sub(s.mu.filled).Seconds()*linesPerSec)
	s.mu.filled = now
	if ok = s.mu.tokens >= 1; ok {
		s.mu.tokens--
	} else {
		s.mu.dropped++
	}
	if s.mu.dropped > 0 && now.Sub(s.mu.reported) >= reportDropped {
		dropped, s.mu.dropped, s.mu.reported = s.mu.dropped, 0, now
	}
	return ok, dropped
}

// emit logs a line of the SDK's logger with its level, anything else at INFO.
func (s *scribe) emit(b []byte, text string) {
	var rec struct {
		Level slog.Level `json:"level"`
		Msg   string     `json:"msg"`
	}
	if len(b) > 0 && b[0] == '{' && json.Unmarshal(b, &rec) == nil && rec.Msg != "" {
		s.log.Log(context.Background(), rec.Level, "connector: "+printable([]byte(rec.Msg), maxLogged), "line", text)
		return
	}
	s.log.Info("connector output", "line", text)
}

// finish is called once all output was read: a panic is logged whole, once, at ERROR.
func (s *scribe) finish() {
	s.mu.Lock()
	trace, dropped := string(s.mu.trace), s.mu.dropped
	s.mu.trace, s.mu.dropped = nil, 0
	s.mu.Unlock()
	if dropped > 0 {
		s.log.Warn("connector logs too much, lines were dropped", "dropped", dropped)
	}
	if trace != "" {
		s.log.Error("connector panicked", "trace", trace)
	}
}

func (s *scribe) lastLines() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.mu.last...)
}

// headline is the first line of the panic, if there was one.
func (s *scribe) headline() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	head, _, _ := strings.Cut(string(s.mu.trace), "\n")
	return printable([]byte(head), maxLogged)
}

func startsPanic(b []byte) bool {
	for _, p := range []string{"panic: ", "fatal error: ", "runtime: goroutine stack exceeds", "SIGSEGV", "SIGABRT", "unexpected fault address"} {
		if strings.HasPrefix(string(b[:min(len(b), 64)]), p) {
			return true
		}
	}
	return false
}

// printable shows bytes of a connector safely: cut to n, control characters and broken text escaped.
func printable(b []byte, n int) string {
	more := ""
	if len(b) > n {
		b, more = b[:n], fmt.Sprintf("... (%d bytes)", len(b))
	}
	q := strconv.Quote(string(b))
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`) + more
}
