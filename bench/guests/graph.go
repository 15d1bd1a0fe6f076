// SPDX-License-Identifier: Apache-2.0

package guests

import (
	"fmt"
	"strings"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/model"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/parse"
)

const domain ident.Domain = "bench"

// The junctions flush each batch of the job at once, as a WASM processor does: FLUSH IMMEDIATE would gather those of a tenth of a millisecond.
const definitions = `
CREATE SCHEMA reading (station STRING, seen DATETIME, level F64, n I64);
CREATE SCHEMA numbered (station STRING, seen DATETIME, level F64, n I64, number I64);
CREATE SCHEMA weather (location STRING, date DATETIME, precipitation F64, temp_max F64, temp_min F64, wind F64, weather STRING);
CREATE SCHEMA trend (location STRING, date DATETIME, temp_max F64, days I64, mean F64);
CREATE SCHEMA warmth (sensor STRING, celsius F64 OPTIONAL, at DATETIME);
CREATE SCHEMA heat (sensor STRING, at DATETIME, fahrenheit F64, seen I64);
CREATE SCHEMA place (station STRING);
CREATE BRANCH by_station SCHEMA place TTL 24h;
CREATE RELAY readings SCHEMA reading BRANCHED BY by_station CAPACITY 64;
CREATE RELAY copies SCHEMA reading BRANCHED BY by_station CAPACITY 64;
CREATE RELAY numbers SCHEMA numbered BRANCHED BY by_station CAPACITY 64;
CREATE RELAY days SCHEMA weather BRANCHED BY by_station CAPACITY 64;
CREATE RELAY trends SCHEMA trend BRANCHED BY by_station CAPACITY 64;
CREATE RELAY warm SCHEMA warmth BRANCHED BY by_station CAPACITY 64;
CREATE RELAY hot SCHEMA heat BRANCHED BY by_station CAPACITY 64;
CREATE RESOURCE files;
CREATE JUNCTION copy FROM readings BRANCHED BY by_station TO copies INHERIT ALL FLUSH EACH 1s MAX BATCH SIZE 1KiB ON MESSAGE ERROR LOG;
CREATE JUNCTION number FROM readings BRANCHED BY by_station TO numbers INHERIT ALL SET number = input.n + 1 FLUSH EACH 1s MAX BATCH SIZE 1KiB ON MESSAGE ERROR LOG;
`

// processors are the WASM processors of the graph: name, input, file, output.
var processors = [][4]string{
	{"copying", "readings", "c_passthrough.wasm", "copies"},
	{"numbering", "readings", "c_passthrough.wasm", "numbers"},
	{"counting", "days", "c_counter.wasm", "trends"},
	{"heating", "warm", "c_first.wasm", "hot"},
}

func text() string {
	var b strings.Builder
	b.WriteString(definitions)
	for _, p := range processors {
		fmt.Fprintf(&b, "CREATE WASM PROCESSOR %s FROM %s USING RESOURCE files VERSION 1 FILE '%s' MAX FUEL 100000000000 MAX MEMORY 1GiB BRANCHED BY by_station"+
			" TO %s ON MESSAGE ERROR LOG ON GLOBAL ERROR LOG;\n", p[0], p[1], p[2], p[3])
	}
	return b.String()
}

// graph is what all forms are built from.
func graph() (*model.Graph, error) {
	parsed, faults := parse.Text(text())
	if len(faults) > 0 {
		return nil, fmt.Errorf("the text of the benchmark: %v", faults)
	}
	all := make([]ast.Definition, len(parsed))
	for i, p := range parsed {
		all[i] = p.Stmt.(ast.Definition)
	}
	g, faults := model.Build(domain, all)
	if len(faults) > 0 {
		return nil, fmt.Errorf("the graph of the benchmark: %v", faults)
	}
	return g, nil
}

// processor is the plan of a WASM processor: copying and numbering are the job, counting and heating are other guests.
func processor(g *model.Graph, name string) (*model.WASM, error) {
	for _, p := range g.WASMs {
		if string(p.Ref.Name) == name {
			return p, nil
		}
	}
	return nil, fmt.Errorf("the benchmark has no processor %q", name)
}
