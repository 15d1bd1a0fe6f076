// SPDX-License-Identifier: Apache-2.0

package dragon

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/lni/dragonboat/v4/logger"
)

// Dragonboat redirects the standard log package in its own initialisation, which ran before this one.
func init() {
	log.SetFlags(log.LstdFlags)
	log.SetOutput(os.Stderr)
}

// sink is where Dragonboat, its store and the standard log package write. It is process-wide because all three are.
var sink struct {
	once   sync.Once
	logger atomic.Pointer[slog.Logger]
	fatal  atomic.Pointer[func(reason string, err error)]
}

// captureLogs leads the loggers of Dragonboat and its store into l, and their fatal lines into fatal.
func captureLogs(l *slog.Logger, fatal func(string, error)) {
	sink.logger.Store(l)
	sink.fatal.Store(&fatal)
	sink.once.Do(func() {
		logger.SetLoggerFactory(func(pkg string) logger.ILogger { return raftLogger{pkg} })
		log.SetFlags(0)
		log.SetOutput(standardLog{})
	})
}

// raftLogger is one named logger of Dragonboat. Its information is debugging detail to us; Panicf comes right before a panic that no caller
// can catch, so it ends the process here, with its reason.
type raftLogger struct{ pkg string }

func (raftLogger) SetLevel(logger.LogLevel) {}

func (r raftLogger) Debugf(string, ...any) {}

func (r raftLogger) Infof(format string, args ...any) { r.line(slog.LevelDebug, format, args) }

func (r raftLogger) Warningf(format string, args ...any) { r.line(slog.LevelDebug, format, args) }

func (r raftLogger) Errorf(format string, args ...any) { r.line(slog.LevelWarn, format, args) }

func (r raftLogger) Panicf(format string, args ...any) {
	(*sink.fatal.Load())("the control plane's log failed", fmt.Errorf("%s: %s", r.pkg, firstLine(fmt.Sprintf(format, args...))))
}

func (r raftLogger) line(level slog.Level, format string, args []any) {
	l := sink.logger.Load()
	if l.Enabled(context.Background(), level) {
		l.Log(context.Background(), level, fmt.Sprintf(format, args...), "component", "raft/"+r.pkg)
	}
}

// firstLine cuts the stack that Dragonboat prints with its errors.
func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// standardLog receives the standard log package. The log store writes there and announces its failures with lines that end the process
// here; such a line is told by who prints it, never by its text.
type standardLog struct{}

// failing are the printers of the store's failures: a failed commit, after which it panics on a goroutine of its own, and a failed flush or
// compaction, which it would try again for ever while commits wait.
var failing = []string{
	"github.com/lni/dragonboat/v4/internal/logdb/kv/pebble.pebbleLogger.Fatalf",
	"github.com/cockroachdb/pebble.(*EventListener).EnsureDefaults.func",
}

func (standardLog) Write(p []byte) (int, error) {
	text := string(bytes.TrimSpace(p))
	if printedBy(failing) {
		(*sink.fatal.Load())("the control plane's log cannot be stored", fmt.Errorf("%s", firstLine(text)))
	}
	sink.logger.Load().Debug(text, "component", "log")
	return len(p), nil
}

// printedBy says whether a function whose name begins like one of the list is among the callers.
func printedBy(functions []string) bool {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		for _, name := range functions {
			if strings.HasPrefix(f.Function, name) {
				return true
			}
		}
		if !more {
			return false
		}
	}
}
