// SPDX-License-Identifier: Apache-2.0

package registry_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/registry"
)

// TestVersionsAreNeverReusedOrLost watches the versions of every resource over random commands.
func TestVersionsAreNeverReusedOrLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := &generator{t: t, milli: epoch, state: registry.NewState()}
		for i := range rapid.IntRange(10, 80).Draw(t, "length") {
			c := g.first(i)
			switch i {
			case 2:
				c.Body, c.Step = &registry.CreateDomain{Name: "a", Text: "D", Grammar: 1, Pace: registry.Unpaced, Placement: 1}, nil
			case 3:
				c.Body, c.Step = &registry.MutateModels{Domain: "a", Base: 3, Puts: []registry.Put{{Key: registry.Key{Kind: ident.KindResource, Name: "a"}, Text: "R", Grammar: 1}}}, nil
			}
			next, _, err := registry.Apply(g.state, ident.Revision(i+1), c)
			if err != nil {
				t.Fatal(err)
			}
			for name, d := range next.Domains {
				for resource, r := range d.Resources {
					if before := g.state.Domains[name]; before != nil && before.Resources[resource] != nil && before.Resources[resource].Created == r.Created {
						checkVersions(t, before.Resources[resource], r)
					}
				}
			}
			g.state = next
		}
	})
}

func checkVersions(t *rapid.T, before, after *registry.Resource) {
	if after.Last < before.Last || after.Last > before.Last+1 {
		t.Fatalf("the last number went from %d to %d", before.Last, after.Last)
	}
	for _, old := range before.Versions {
		now := after.Version(old.Number)
		switch {
		case now == nil && old.State == registry.VersionFailed: // long ago
		case now == nil:
			t.Fatalf("version %d, %s, is gone", old.Number, old.State)
		case old.State != registry.VersionUploading && *now != *old:
			t.Fatalf("version %d was %+v and is %+v", old.Number, *old, *now)
		case now.Upload != old.Upload || now.Owner != old.Owner:
			t.Fatalf("version %d changed its upload", old.Number)
		}
	}
	if v := after.Version(after.Last); after.Last > before.Last && (v == nil || v.State != registry.VersionUploading) {
		t.Fatalf("number %d was given to %+v", after.Last, v)
	}
}

// versionLimits meets both bounds on versions. Failed versions do not use them up: only the newest 16 of a resource are remembered.
func versionLimits(t *testing.T) {
	limits := registry.DefaultLimits()
	if limits.ResourceVersions != 10_000 || limits.Versions != 65_536 {
		t.Fatalf("%d of one resource, %d of all", limits.ResourceVersions, limits.Versions)
	}
	limits.ResourceVersions, limits.Versions = 20, 23
	w := newWorld(t, limits)
	for _, name := range []ident.Name{"m", "n"} {
		k := registry.Key{Kind: ident.KindResource, Name: name}
		w.want(&registry.MutateModels{Domain: "d", Base: w.state.Domains["d"].Model, Puts: []registry.Put{{Key: k, Text: "R", Grammar: 1}}}, "")
	}
	upload := func(resource ident.Name, n byte) *registry.AdmitVersion {
		return &registry.AdmitVersion{Domain: "d", Resource: resource, Upload: ident.NewReference(epoch, [10]byte{9: n}), Node: 1}
	}
	for n := range byte(50) {
		a := upload("m", n)
		w.want(a, "")
		w.want(&registry.FailVersion{Domain: "d", Resource: "m", Upload: a.Upload, Version: uint64(n) + 1}, "")
	}
	m := w.state.Domains["d"].Resources["m"]
	if m.Last != 50 || len(m.Versions) != 16 || m.Versions[0].Number != 35 || m.Version(34) != nil {
		t.Fatalf("after 50 failed uploads the last is %d and %d are remembered", m.Last, len(m.Versions))
	}
	for n := range byte(4) {
		w.want(upload("m", 100+n), "")
	}
	w.want(upload("m", 110), fault.ResourceVersions)
	w.want(upload("m", 100), "") // known, so no new version
	for n := range byte(3) {
		w.want(upload("n", n), "")
	}
	w.want(upload("n", 3), fault.ResourceVersions)
}

// TestAFullStateOfVersionsLoads stores as many versions as there may be.
func TestAFullStateOfVersionsLoads(t *testing.T) {
	w := newWorld(t, registry.DefaultLimits())
	for r := range 7 {
		k := registry.Key{Kind: ident.KindResource, Name: ident.Name("m" + string(rune('0'+r)))}
		w.want(&registry.MutateModels{Domain: "d", Base: w.state.Domains["d"].Model, Puts: []registry.Put{{Key: k, Text: "R", Grammar: 1}}}, "")
		// One after another would copy the list of versions ten thousand times.
		resource := w.state.Domains["d"].Resources[k.Name]
		for n := range uint64(min(10_000, 65_536-10_000*r)) {
			resource.Versions = append(resource.Versions, &registry.Version{
				Number: n + 1, State: registry.VersionCompleted, Upload: ident.NewReference(epoch, [10]byte{8: byte(n >> 8), 9: byte(n)}), Owner: "ann",
				Content: registry.Content{Digest: [32]byte{1}, ArchiveBytes: 1, Files: 1, Bytes: 1}, Node: 1, Admitted: w.state.Now, Completed: w.state.Now,
			})
			resource.Last = n + 1
		}
	}
	w.want(&registry.AdmitVersion{Domain: "d", Resource: "m6", Upload: ident.NewReference(epoch, [10]byte{1: 1}), Node: 1}, fault.ResourceVersions)
	snapshot := registry.EncodeSnapshot(w.state)
	t.Logf("%d bytes", len(snapshot))
	if _, err := registry.DecodeSnapshot(snapshot); err != nil {
		t.Fatalf("a full state does not load: %v", err)
	}
}
