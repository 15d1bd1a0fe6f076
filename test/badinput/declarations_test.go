// SPDX-License-Identifier: Apache-2.0

package badinput

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/test/nodes"
)

// greatest is the greatest capacity there is.
const greatest = "18446744073709551615"

const schemasOnly = `CREATE DOMAIN d;
USE d;
CREATE SCHEMA soil (bed STRING, wet F64);
CREATE SCHEMA bed_key (bed STRING);
CREATE BRANCH by_bed SCHEMA bed_key TTL 5m;
CREATE BRANCH also_by_bed SCHEMA bed_key TTL 5m;
CREATE BRANCH few_beds SCHEMA bed_key TTL 90s MAX INSTANCES 12 EVICT LRU;
`

// shown asks for the canonical text of an object.
func shown(s *nodes.Session, object string) string { return s.Do("SHOW CREATE " + object).Text }

// TestDeclarationsRoundTrip declares relays in every form that the language has (WITH MATERIALIZED STATE is none of them yet) over a session and reads them back, byte for byte: as they are shown, as they are after
// they were dropped and created from what was shown, and after kill -9 and an orderly restart.
func TestDeclarationsRoundTrip(t *testing.T) {
	// req
	data, root := t.TempDir()+"/data", t.TempDir()
	n := nodes.Start(t, nodes.Options{Data: data, Root: root})
	s := n.Dial()
	s.Do(schemasOnly)
	want := map[string]string{
		"BRANCH by_bed":      "CREATE BRANCH by_bed SCHEMA bed_key\n  TTL 5m",
		"BRANCH also_by_bed": "CREATE BRANCH also_by_bed SCHEMA bed_key\n  TTL 5m",
		"BRANCH few_beds":    shown(s, "BRANCH few_beds"),
	}
	if text := want["BRANCH few_beds"]; !strings.HasPrefix(text, "CREATE BRANCH few_beds SCHEMA bed_key\n") || !strings.Contains(text, "MAX INSTANCES 12 EVICT LRU") {
		t.Errorf("the branch is shown as %q", text)
	}
	for _, ifNotExists := range []string{"", "IF NOT EXISTS "} {
		for _, branched := range []string{"UNBRANCHED", "BRANCHED BY by_bed", "BRANCHED BY few_beds"} {
			for written, capacity := range map[string]string{"": "1", " CAPACITY 1": "1", " CAPACITY 0032": "32", " CAPACITY " + greatest: greatest} {
				name := fmt.Sprintf("r%d", len(want))
				out := s.Do("CREATE " + ifNotExists + "RELAY " + name + " SCHEMA soil " + branched + written)
				want["RELAY "+name] = "CREATE RELAY " + name + " SCHEMA soil\n  " + branched + "\n  CAPACITY " + capacity
				if out.AlreadyExisted {
					t.Errorf("%s existed", name)
				}
			}
		}
	}
	check := func(when string) {
		t.Helper()
		for object, text := range want {
			if got := shown(s, object); strings.TrimSuffix(strings.TrimSuffix(got, "\n"), ";") != text {
				t.Errorf("%s: SHOW CREATE %s gives\n%s\nwant\n%s", when, object, got, text)
			}
		}
	}
	check("created")
	if out := s.Do("CREATE IF NOT EXISTS RELAY r3 SCHEMA soil UNBRANCHED CAPACITY 7"); !out.AlreadyExisted {
		t.Error("IF NOT EXISTS made r3 anew")
	}
	for object := range want {
		if kind, _, _ := strings.Cut(object, " "); kind == "RELAY" {
			text := shown(s, object)
			s.Do("DROP "+object+";\n", text+";\n")
		}
	}
	check("created from what was shown")
	n.Kill()
	n = nodes.Start(t, nodes.Options{Data: data, Root: root})
	s = n.Dial()
	s.Use("d")
	check("after kill -9")
	var described struct {
		Capacity any `json:"capacity"`
	}
	largest := ""
	for object, text := range want {
		if strings.HasSuffix(text, " CAPACITY "+greatest) {
			largest = object
		}
	}
	if document := s.Describe(largest, &described); !strings.Contains(document, greatest) {
		t.Errorf("DESCRIBE rounds the capacity: %s", document)
	}
	s.Do("ALTER " + largest + " SET CAPACITY 4, SET CAPACITY 18446744073709551614")
	want[largest] = strings.Replace(want[largest], greatest, "18446744073709551614", 1)
	n.Stop()
	n = nodes.Start(t, nodes.Options{Data: data, Root: root})
	s = n.Dial()
	s.Use("d")
	check("after an orderly restart")
	n.Stop()
}

// TestRelayClausesAreRefused: whatever a declaration lacks or has too much is refused, and nothing of it is stored.
func TestRelayClausesAreRefused(t *testing.T) {
	// req
	root := t.TempDir()
	n := nodes.Start(t, nodes.Options{Data: t.TempDir() + "/data", Root: root})
	s := n.Dial()
	s.Do(schemasOnly)
	for clauses, word := range map[string]string{
		"":                                  "syntax",
		"SCHEMA soil":                       "BRANCHED BY", // omission is no default
		"SCHEMA soil CAPACITY 4":            "BRANCHED BY",
		"UNBRANCHED":                        "SCHEMA",
		"BRANCHED BY by_bed":                "SCHEMA",
		"UNBRANCHED SCHEMA soil":            "SCHEMA",
		"SCHEMA soil CAPACITY 4 UNBRANCHED": "BRANCHED BY",
		"SCHEMA soil BRANCHED BY by_bed, also_by_bed":                      "syntax",
		"SCHEMA soil BRANCHED BY by_bed UNBRANCHED":                        "syntax",
		"SCHEMA soil BRANCHED BY bed_key":                                  "bed_key", // a schema is no branch
		"SCHEMA soil BRANCHED BY nowhere":                                  "nowhere",
		"SCHEMA soil UNBRANCHED CAPACITY 0":                                "syntax.number",
		"SCHEMA soil UNBRANCHED CAPACITY -1":                               "syntax",
		"SCHEMA soil UNBRANCHED CAPACITY 18446744073709551616":             "the largest number is 18446744073709551615",
		"SCHEMA soil UNBRANCHED CAPACITY 1 CAPACITY 1":                     "syntax",
		"SCHEMA soil UNBRANCHED WITH MATERIALIZED STATE LAST BY TIMESTAMP": "syntax",
		"SCHEMA soil UNBRANCHED TTL 5m":                                    "CREATE BRANCH",
		"SCHEMA soil BRANCHED BY by_bed CAPACITY 4 TTL 5m":                 "CREATE BRANCH",
		"SCHEMA soil BRANCHED BY by_bed MAX INSTANCES 3 EVICT LRU":         "syntax",
	} {
		if said := s.Refused("CREATE RELAY r " + clauses); !strings.Contains(said, word) {
			t.Errorf("CREATE RELAY r %s: %s", clauses, said)
		}
	}
	if said := s.Refused("SHOW CREATE RELAY r"); !strings.Contains(said, "there is no RELAY r") {
		t.Errorf("something was stored: %s", said)
	}
	s.Do("CREATE RELAY r SCHEMA soil UNBRANCHED CAPACITY 3")
	s.Refused("ALTER RELAY r SET CAPACITY 0")
	s.Refused("ALTER RELAY r SET CAPACITY 9, SET CAPACITY 0")
	if got := shown(s, "RELAY r"); !strings.Contains(got, "CAPACITY 3") {
		t.Errorf("a refused change had an effect: %s", got)
	}
	n.Stop()
}

// TestBranchIsTheIdentity: two branches over one schema, with the same settings, are two; relays of one are not relays of the other.
func TestBranchIsTheIdentity(t *testing.T) {
	// req: R-005
	root := t.TempDir()
	n := nodes.Start(t, nodes.Options{Data: t.TempDir() + "/data", Root: root})
	s := n.Dial()
	s.Do(schemasOnly, `CREATE RELAY ins SCHEMA soil BRANCHED BY by_bed;
CREATE RELAY same SCHEMA soil BRANCHED BY by_bed;
CREATE RELAY other SCHEMA soil BRANCHED BY also_by_bed;
CREATE RELAY bare SCHEMA soil UNBRANCHED;
`)
	junction := func(name, from, branched, to string) string {
		return "CREATE JUNCTION " + name + " FROM " + from + " " + branched + " TO " + to + " INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG"
	}
	for _, wrong := range [][3]string{
		{"ins", "BRANCHED BY by_bed", "other"}, {"ins", "BRANCHED BY also_by_bed", "other"}, {"ins", "BRANCHED BY also_by_bed", "same"},
		{"ins", "UNBRANCHED", "same"}, {"bare", "BRANCHED BY by_bed", "same"}, {"ins", "BRANCHED BY by_bed", "bare"},
		{"ins, other", "BRANCHED BY by_bed", "same"},
	} {
		said := s.Refused(junction("j", wrong[0], wrong[1], wrong[2]))
		if strings.Contains(said, "syntax") || !strings.Contains(said, "branch") && !strings.Contains(said, "BRANCH") {
			t.Errorf("from %s, %s, to %s: %s", wrong[0], wrong[1], wrong[2], said)
		}
	}
	s.Do(junction("j", "ins", "BRANCHED BY by_bed", "same"))
	n.Stop()
}
