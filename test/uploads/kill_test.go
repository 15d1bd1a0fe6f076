// SPDX-License-Identifier: Apache-2.0

package uploads

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nervix-go/nervix/client"
	"github.com/nervix-go/nervix/test/nodes"
)

// TestNodeDiesDuringAnUpload: kill -9 in the middle of an archive; the node comes back at its address, nothing of the upload is left, and the
// client's one call ends with a version all the same.
func TestNodeDiesDuringAnUpload(t *testing.T) {
	// req: G-084 half: dots in names of the store do not come up, since names of resources are no names of files
	// req: X-259
	// req: D-039 half: staged uploads
	t.Parallel()
	o := folders(t)
	n := nodes.Start(t, o)
	address := n.Session
	s := n.Dial()
	s.Do("CREATE DOMAIN one;", "USE one;", "CREATE RESOURCE models;")
	const size = 12 << 20
	killed := false
	u := client.UploadOptions{Domain: "one", Resource: "models", Directory: models(t, size, 1), Reference: client.NewReference()}
	u.Progress = func(sent, _ int64) {
		if sent < size/2 || killed {
			return
		}
		killed = true
		n.Kill()
		if _, half := stored(t, o.Data); half != 1 {
			t.Errorf("%d uploads under way in the folder of the killed node", half)
		}
		again := o
		again.Flags = []string{"--session-listen", address}
		n = nodes.Start(t, again)
		if versions, half := stored(t, o.Data); versions != 0 || half != 0 {
			t.Errorf("after the start %d versions are stored and %d uploads under way", versions, half)
		}
	}
	out := must(t, s, u)
	if !killed || out.Version != 2 || out.Bytes != size+5 {
		t.Fatalf("%+v", out)
	}
	s = n.Dial()
	s.Use("one")
	if d := describe(t, s, "models"); len(d.Versions) != 2 || d.Versions[0].State != "failed" || d.Versions[1].State != "completed" || d.Replicas[0].State != "installed" {
		t.Fatalf("%+v", d)
	}
	n.Stop()
}

// TestKillsAtAnyMoment kills the node again and again while three clients upload without a pause, each identity until it has its version. In the
// end each identity has one completed version with its own bytes, and the folder holds nothing else.
func TestKillsAtAnyMoment(t *testing.T) {
	// req: X-255
	// req: X-280 half: uploads
	t.Parallel()
	rounds := 4
	if soak() {
		rounds = 100
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	o := folders(t)
	n := nodes.Start(t, o)
	again := o
	again.Flags = []string{"--session-listen", n.Session}
	s := n.Dial()
	s.Do("CREATE DOMAIN one;", "USE one;", "CREATE RESOURCE models;")
	var work sync.WaitGroup
	var done [3][]client.UploadOutcome
	stop := make(chan struct{})
	for i := range done {
		c := n.Dial()
		u := client.UploadOptions{Domain: "one", Resource: "models", Directory: models(t, (i*3+1)<<20, byte(i))}
		work.Go(func() { done[i] = uploadUntil(t, stop, c, u) })
	}
	for range rounds {
		time.Sleep(time.Duration(random.IntN(400_000)) * time.Microsecond) // any moment will do
		n.Kill()
		n = nodes.Start(t, again)
	}
	close(stop)
	work.Wait()
	s = n.Dial()
	s.Use("one")
	d := describe(t, s, "models")
	bytes := map[uint64]uint64{}
	for _, v := range d.Versions {
		if v.State == "completed" {
			bytes[v.Version] = v.Bytes
		}
	}
	total := 0
	for _, outcomes := range done {
		total += len(outcomes)
		for _, out := range outcomes {
			if bytes[out.Version] != out.Bytes {
				t.Errorf("version %d has %d bytes, and the client was told %+v", out.Version, bytes[out.Version], out)
			}
		}
	}
	t.Logf("%d uploads, %d numbers", total, d.Versions[len(d.Versions)-1].Version)
	if len(bytes) != total || d.count("uploading") != 0 || strings.Contains(n.Log(), "resource.missing") {
		t.Fatalf("%d completed of %d: %+v", len(bytes), total, d)
	}
	n.Stop()
	n = nodes.Start(t, again)
	if versions, half := stored(t, o.Data); versions != len(done) || half != 0 {
		t.Fatalf("%d versions stored, %d uploads under way", versions, half)
	}
	s = n.Dial()
	s.Use("one")
	for _, r := range describe(t, s, "models").Replicas {
		if r.State != "installed" {
			t.Errorf("%+v", r)
		}
	}
	n.Stop()
}

// uploadUntil uploads under one identity after another. A call gives up after a few lost nodes; the caller does not.
func uploadUntil(t *testing.T, stop chan struct{}, c *nodes.Session, u client.UploadOptions) (done []client.UploadOutcome) {
	for {
		u.Reference = client.NewReference()
		out, err := upload(c, u)
		for range 20 {
			if err == nil {
				break
			}
			out, err = upload(c, u)
		}
		if err != nil {
			t.Error(err)
			return done
		}
		done = append(done, out)
		select {
		case <-stop:
			return done
		default:
		}
	}
}
