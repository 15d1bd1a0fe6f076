// SPDX-License-Identifier: Apache-2.0

package guests

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nervix-go/nervix/client"
	"github.com/nervix-go/nervix/test/nodes"
	"github.com/nervix-go/nervix/wasm/engine/shim"
	"github.com/nervix-go/nervix/wasm/engine/watguest"
)

// world is a node and a session of its administrator. Files below root are those of domains, one folder each.
type world struct {
	t    *testing.T
	node *nodes.Node
	root string
}

// start runs a node.
func start(t *testing.T, flags ...string) *world {
	t.Helper()
	root := t.TempDir()
	n := nodes.Start(t, nodes.Options{Data: t.TempDir() + "/data", Root: root, Flags: append([]string{"--log-format", "json"}, flags...)})
	return &world{t: t, node: n, root: root}
}

// file is a file of the resource of a domain.
type file struct {
	name    string
	content []byte
}

// wat compiles WebAssembly text.
func wat(t testing.TB, text string) []byte {
	t.Helper()
	b, err := shim.ModuleText(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return b
}

func module(t testing.TB, g watguest.Guest) []byte {
	t.Helper()
	return wat(t, g.Text())
}

// arena is a domain with rows that come from in.ndjson, a processor's way out to out.ndjson, and message errors that go to faults.ndjson.
type arena struct {
	*nodes.Session
	w      *world
	t      *testing.T
	domain string
	at     string // folder of its files
	rows   int

	unbranched bool
}

// arenaOptions say what differs between arenas.
type arenaOptions struct {
	files []file
	// window is PARALLEL MAX of the ingestor; 1 keeps the rows in order, each in a batch of its own.
	window int
	// branch is added to CREATE BRANCH behind the schema: TTL and instance limit. Empty is a TTL of an hour.
	branch string
	// sensitive marks the branch key and the script of rows SENSITIVE.
	sensitive bool
	// follow makes the source wait for more rows instead of ending.
	follow bool
	// unbranched has one branch for all rows.
	unbranched bool
}

// arena makes a domain without processors.
func (w *world) arena(t *testing.T, domain string, o arenaOptions) *arena {
	t.Helper()
	a := &arena{Session: w.node.Dial(), w: w, t: t, domain: domain, at: w.root + "/" + domain, unbranched: o.unbranched}
	nodes.WriteFile(t, a.at+"/in.ndjson", nil)
	or := func(text, otherwise string) string {
		if text == "" {
			return otherwise
		}
		return text
	}
	sensitive, leak := "", "INHERIT ALL"
	if o.sensitive {
		sensitive, leak = " SENSITIVE", "INHERIT id, n, bed LEAK SENSITIVE"
	}
	follow := ""
	if o.follow {
		follow = " FOLLOW"
	}
	a.define(fmt.Sprintf(`CREATE UNPACED DOMAIN %s;
USE %s;
CREATE SCHEMA item (id I64, bed STRING%s, act STRING%s);
CREATE SCHEMA seen (id I64, bed STRING%s, n I64);
CREATE SCHEMA fault (id I64 OPTIONAL, ref STRING, code STRING, operation STRING, why STRING);
CREATE SCHEMA bed_key (bed STRING%s);
CREATE WIRE JSON SCHEMA item_wire MODE STRICT (id INTEGER, bed STRING, act STRING);
CREATE WIRE JSON SCHEMA seen_wire MODE STRICT (id INTEGER, bed STRING, n INTEGER);
CREATE WIRE JSON SCHEMA fault_wire MODE STRICT (id INTEGER OPTIONAL, ref STRING, code STRING, operation STRING, why STRING);
CREATE CODEC item_codec FROM WIRE JSON SCHEMA item_wire TO SCHEMA item;
CREATE CODEC seen_codec FROM WIRE JSON SCHEMA seen_wire TO SCHEMA seen;
CREATE CODEC fault_codec FROM WIRE JSON SCHEMA fault_wire TO SCHEMA fault;
CREATE BRANCH by_bed SCHEMA bed_key %s;
CREATE RELAY items SCHEMA item BRANCHED BY by_bed CAPACITY 64;
CREATE RELAY out SCHEMA seen BRANCHED BY by_bed CAPACITY 64;
CREATE RELAY side SCHEMA seen BRANCHED BY by_bed CAPACITY 64;
CREATE RELAY calm SCHEMA seen BRANCHED BY by_bed CAPACITY 64;
CREATE RELAY faults SCHEMA fault BRANCHED BY by_bed CAPACITY 64;
CREATE CLIENT files TYPE FILE CONFIG { 'root' = '%s', 'max_line_bytes' = 10000000 };
CREATE INGESTOR feed FROM FILE files PATH 'in.ndjson'%s
  MODE ACK PARALLEL MAX %d ACK TIMEOUT 60s RETRY POLICY BACKOFF 20ms MAX 200ms ON QUIESCE SUSPEND
  DECODE USING item_codec
  TO items INHERIT ALL BRANCHED BY by_bed SET bed = message.bed FLUSH IMMEDIATE ON MESSAGE ERROR LOG
  ON GENERAL ERROR LOG;`,
		domain, domain, sensitive, sensitive, sensitive, sensitive, or(o.branch, "TTL 1h"), a.at, follow, max(o.window, 1)))
	for _, out := range []struct{ relay, codec, columns string }{{"out", "seen_codec", leak}, {"side", "seen_codec", leak}, {"calm", "seen_codec", leak}, {"faults", "fault_codec", "INHERIT ALL"}} {
		a.define(fmt.Sprintf(`CREATE EMITTER %s_file FROM %s
  TO FILE files PATH '%s.ndjson' MODE ACK RETRY POLICY BACKOFF 50ms MAX 200ms ENCODE USING %s
  %s FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG;`, out.relay, out.relay, out.relay, out.codec, out.columns))
	}
	a.upload(o.files...)
	return a
}

// define creates what is written for branches of beds.
func (a *arena) define(texts ...string) {
	a.t.Helper()
	text := strings.Join(texts, "\n")
	if a.unbranched {
		text = strings.NewReplacer(" BRANCHED BY by_bed SET bed = message.bed", " UNBRANCHED", " BRANCHED BY by_bed", " UNBRANCHED").Replace(text)
	}
	a.Do(text)
}

// upload makes the resource `modules` with one version.
func (a *arena) upload(files ...file) {
	a.t.Helper()
	folder := a.t.TempDir()
	for _, f := range files {
		nodes.WriteFile(a.t, folder+"/"+f.name, f.content)
	}
	a.Do("CREATE RESOURCE modules")
	a.uploadFolder(folder)
}

func (a *arena) uploadFolder(folder string) (version uint64) {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	out, err := a.Upload(ctx, client.UploadOptions{Domain: a.domain, Resource: "modules", Directory: folder})
	if err != nil {
		a.t.Fatal(err)
	}
	return out.Version
}

// processor is a declaration.
type processor struct {
	name, file string
	detached   bool
	// fuel and memory are 20 million and 8MiB if left out.
	fuel, memory string
	ignore       bool // ON GLOBAL ERROR
	// where is the condition of the input.
	where string
	// routes are all ways out; to the relays out and side if left out.
	routes string
}

const sendFaults = `ON MESSAGE ERROR SEND TO faults SET id = input.id, ref = error.reference, code = error.code, operation = error.operation, why = error.message`

func (p processor) text() string {
	or := func(text, otherwise string) string {
		if text == "" {
			return otherwise
		}
		return text
	}
	attachment, policy := "ATTACHED", "LOG"
	if p.detached {
		attachment = "DETACHED"
	}
	if p.ignore {
		policy = "IGNORE"
	}
	where := ""
	if p.where != "" {
		where = " WHERE " + p.where
	}
	return fmt.Sprintf(`CREATE %s WASM PROCESSOR %s FROM items%s USING RESOURCE modules VERSION 1 FILE '%s' MAX FUEL %s MAX MEMORY %s BRANCHED BY by_bed
  %s ON GLOBAL ERROR %s;`, attachment, p.name, where, p.file, or(p.fuel, "20000000"), or(p.memory, "8MiB"),
		or(p.routes, "TO out ON MESSAGE ERROR LOG TO side ON MESSAGE ERROR LOG"), policy)
}

// item is an input row.
type item struct {
	bed, script string
}

// feed appends rows to the source's file, numbered in order after those before.
func (a *arena) feed(items ...item) {
	a.t.Helper()
	var b strings.Builder
	for _, x := range items {
		a.rows++
		line, err := json.Marshal(struct {
			ID  int    `json:"id"`
			Bed string `json:"bed"`
			Act string `json:"act"`
		}{a.rows, x.bed, rowMark + x.script + ";"})
		if err != nil {
			a.t.Fatal(err)
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	f, err := os.OpenFile(a.at+"/in.ndjson", os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(b.String())
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		a.t.Fatal(err)
	}
}

// settled waits until every row was acknowledged.
func (a *arena) settled() {
	a.t.Helper()
	nodes.Eventually(a.t, "every row is acknowledged", func() bool {
		i := a.Ingestor("feed")
		return i.Unresolved == 0 && i.Position.Line == int64(a.rows)
	})
}

// rowMark begins the script of a row, keyMark the one in a branch key.
const rowMark, keyMark = "@#@#", "@@@@"

// seen is a row that came out.
type seen struct {
	ID, N int
	Bed   string
}

// came reads what an emitter wrote.
func (a *arena) came(relay string) []seen { return lines[seen](a.t, a.at+"/"+relay+".ndjson") }

// fault is an error record.
type fault struct {
	ID                        int
	Ref, Code, Operation, Why string
}

func lines[T any](t testing.TB, path string) []T {
	t.Helper()
	var all []T
	text := string(nodes.ReadFile(t, path))
	for _, line := range strings.Split(text[:strings.LastIndexByte(text, '\n')+1], "\n") {
		if line == "" {
			continue
		}
		var one T
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, one)
	}
	return all
}

// counts are the counters that came out of each branch, in the order of the file.
func (a *arena) counts(relay string) map[string][]int {
	all := map[string][]int{}
	for _, s := range a.came(relay) {
		all[s.Bed] = append(all[s.Bed], s.N)
	}
	return all
}

// fingerprint names the branch of a bed in diagnostics.
func fingerprint(bed string) string {
	key, _ := json.Marshal(struct {
		Bed string `json:"bed"`
	}{bed})
	sum := sha256.Sum256([]byte("by_bed\x00" + string(key)))
	return hex.EncodeToString(sum[:])
}

// failure is a line of the log about a WASM processor.
type failure struct {
	Level, Msg, Code, Domain, Kind, Name, Message, Module string

	FirstRow int `json:"first_row"`
}

// caughtUp waits until the test has read all that the node has logged by now: the log comes over a pipe, and what it is held against over another way.
func (w *world) caughtUp(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	config := w.node.Config()
	config.Program = "mark " + client.NewReference() // the node logs it with the session
	c, err := client.Dial(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	nodes.Eventually(t, "the log has a new session", func() bool { return strings.Contains(w.node.Log(), config.Program) })
}

// failures are the runtime errors that the node has logged of a processor.
func (a *arena) failures(name string) []failure {
	a.t.Helper()
	a.w.caughtUp(a.t)
	return a.told(name)
}

// told are those of them that the test has read.
func (a *arena) told(name string) []failure {
	var all []failure
	for _, line := range strings.Split(a.w.node.Log(), "\n") {
		var f failure
		if json.Unmarshal([]byte(line), &f) == nil && f.Domain == a.domain && f.Kind == "WASM PROCESSOR" && f.Name == name {
			all = append(all, f)
		}
	}
	return all
}

// of keeps the failures of one branch.
func of(all []failure, bed string) []failure {
	return slices.DeleteFunc(slices.Clone(all), func(f failure) bool { return !strings.Contains(f.Message, "(branch "+fingerprint(bed)) })
}

// description is what DESCRIBE WASM PROCESSOR says.
type description struct {
	LastErrors []struct {
		At                    time.Time
		Code, Message, Module string
		FirstRow              int `json:"first_row"`
	} `json:"last_errors"`
	LiveBranches int `json:"live_branches"`
	Branches     []struct {
		Fingerprint string
		Instance    int    `json:"instance_generation"`
		Generation  int    `json:"generation"`
		Callbacks   int    `json:"callbacks"`
		Fuel        uint64 `json:"last_callback_fuel"`
		Memory      uint64 `json:"linear_memory_bytes"`
		Held        int    `json:"held_rows"`
		Committed   *int   `json:"committed_revision"`
		Latest      *int   `json:"latest_revision"`
		Checkpoint  string
	}
	Rows struct {
		Given, Acked, Nacked, Failed int
	}
	Restarts int
}

func (a *arena) describe(name string) (d description) {
	a.t.Helper()
	a.Describe("WASM PROCESSOR "+name, &d)
	return d
}
