// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/osclock"
)

// How often progress is shown: on a terminal one line is written over, elsewhere a line is added.
const (
	terminalEvery = 100 * time.Millisecond
	lineEvery     = 5 * time.Second
)

// progress shows how far an upload is. One that is over soon shows its end alone, and nothing on a terminal.
type progress struct {
	to       io.Writer
	resource string
	terminal bool
	every    time.Duration
	now      func() vtime.Mono
	shown    vtime.Mono // last time
	drawn    bool       // the line is on the terminal
	sent     int64      // told last, as total
	total    int64
}

func newProgress(to io.Writer, resource string) *progress {
	p := &progress{to: to, resource: resource, every: lineEvery, now: osclock.Mono}
	if f, ok := to.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			p.terminal, p.every = true, terminalEvery
		}
	}
	p.shown = p.now()
	return p
}

func (p *progress) update(sent, total int64) {
	p.sent, p.total = sent, total
	now := p.now()
	if now.Sub(p.shown) < p.every {
		return
	}
	p.shown = now
	if p.terminal {
		p.drawn = true
		fmt.Fprint(p.to, "\r"+p.line()+"\x1b[K")
		return
	}
	fmt.Fprintln(p.to, p.line())
}

func (p *progress) line() string {
	return fmt.Sprintf("nervix: uploading %s: %d %% of %s", p.resource, p.sent*100/max(1, p.total), mebibytes(p.total))
}

// end removes the line from a terminal; elsewhere an upload that succeeded ends with a line of its own.
func (p *progress) end(succeeded bool) {
	switch {
	case p.drawn:
		fmt.Fprint(p.to, "\r\x1b[K")
	case succeeded && !p.terminal:
		p.sent = p.total
		fmt.Fprintln(p.to, p.line())
	}
}

func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
