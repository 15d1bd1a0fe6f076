// SPDX-License-Identifier: Apache-2.0

package registry_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/registry"
)

// authorityOf reads `node/incarnation`; zero when the argument is missing.
func authorityOf(t *testing.T, d *datadriven.TestData, name string) clock.Authority {
	text := arg(d, name, "")
	if text == "" {
		return clock.Authority{}
	}
	var a clock.Authority
	if _, err := fmt.Sscanf(text, "%d/%d", &a.Node, &a.Incarnation); err != nil {
		t.Fatal(err)
	}
	return a
}

// opening reads at-now, and with rate= a mapping from wall= to origin= with authority=.
func opening(t *testing.T, d *datadriven.TestData) registry.Opening {
	o := registry.Opening{RestartPositions: d.HasArg("at-now"), Authority: authorityOf(t, d, "authority")}
	if text := arg(d, "rate", ""); text != "" {
		rate, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		origin, _ := strconv.ParseInt(arg(d, "origin", "0"), 10, 64)
		wall, _ := strconv.ParseInt(arg(d, "wall", "0"), 10, 64)
		o.Mapping = clock.Mapping{WallStartedAt: vtime.UTCFromNS(wall), LogicalStart: vtime.LogicalFromNS(origin), Rate: rate}
	}
	return o
}

func (s *script) reconcile(d *datadriven.TestData, name ident.Domain) registry.Body {
	return &registry.ReconcileAuthority{
		Domain: name, Generation: ident.Generation(number(d, "generation")), Authority: authorityOf(s.t, d, "authority"),
		Expected: clock.Fence{Revision: number(d, "fence"), Authority: authorityOf(s.t, d, "expected")},
	}
}

func (s *script) version(d *datadriven.TestData, name ident.Domain) registry.Body {
	resource, upload, version := ident.Name(arg(d, "resource", "m")), s.ref(arg(d, "upload", "")), number(d, "version")
	switch d.Cmd {
	case "admit":
		return &registry.AdmitVersion{Domain: name, Resource: resource, Upload: upload, Node: ident.Node(max(1, number(d, "at-node")))}
	case "fail":
		return &registry.FailVersion{Domain: name, Resource: resource, Upload: upload, Version: version}
	}
	content := registry.Content{ArchiveBytes: 1536, Files: 1, Bytes: 9}
	copy(content.Digest[:], arg(d, "bytes", ""))
	return &registry.CompleteVersion{Domain: name, Resource: resource, Upload: upload, Version: version, Content: content}
}

func showMapping(m clock.Mapping) string {
	return fmt.Sprintf("wall %d origin %d rate %g", m.WallStartedAt.NS(), m.LogicalStart.NS(), m.Rate)
}

func showClock(d *registry.Domain) string {
	if d.Pace != registry.Paced {
		if (d.Clock() != clock.Lifecycle{Domain: d.Name, Created: d.Created, Generation: d.Generation, Running: d.Status == registry.Running}) {
			return "  an unpaced domain with a clock\n"
		}
		return ""
	}
	text := fmt.Sprintf("  period %d skew %d fence %d %s", d.Pacing.Period, d.Pacing.Skew, d.Fence.Revision, d.Fence.Authority)
	if !d.Mapping.IsZero() {
		text += ", " + showMapping(d.Mapping)
	}
	return text + "\n"
}

func showFrozen(f registry.Frozen) string {
	if f.Start == nil {
		return fmt.Sprintf(", operation %d binds %s %d", f.Operation, f.Resource, f.Version)
	}
	return fmt.Sprintf(", operation %d starts at %s under %s", f.Operation, showMapping(f.Start.Mapping), f.Start.Authority)
}

func showVersions(r *registry.Resource) string {
	var b strings.Builder
	fmt.Fprintf(&b, "    last %d", r.Last)
	if v := r.Latest(); v != nil {
		fmt.Fprintf(&b, ", latest %d", v.Number)
	}
	b.WriteByte('\n')
	for _, v := range r.Versions {
		fmt.Fprintf(&b, "    version %d %s by %s of upload %d", v.Number, v.State, v.Owner, v.Upload[15])
		if v.State == registry.VersionCompleted {
			fmt.Fprintf(&b, " digest %s, %d bytes, %d files of %d bytes", strings.TrimRight(string(v.Digest[:]), "\x00"), v.ArchiveBytes, v.Files, v.Bytes)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
