// SPDX-License-Identifier: Apache-2.0

package model

import (
	"path"
	"strconv"
	"strings"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// option is one known CONFIG key of a client type.
type option struct {
	key      string
	required bool
	// problem says what is wrong with a value, empty when it is good. It repeats no value.
	problem func(*ast.Literal) string
}

// clientOptions lists the CONFIG keys of the client types (nspl 13.2).
var clientOptions = map[ast.ClientType][]option{
	ast.ClientFile: {
		{key: "root", required: true, problem: absolutePath},
		{key: "max_line_bytes", problem: lineBytes},
	},
}

// maxLineBytes bounds max_line_bytes: what one payload column can hold with room to spare.
const maxLineBytes = 1 << 30

// client checks a client (nspl 13.2).
func (b *builder) client(r *report, e *entry) {
	def := e.def.(*ast.CreateClient)
	known, ok := clientOptions[def.Type]
	if !ok {
		r.check(fault.ModelUnsupported, r.name(), "clients of type "+string(def.Type)+" are not supported by this version")
		return
	}
	plan := &Client{Ref: e.ref, Fingerprint: b.prints.of(e), Kind: strings.ToLower(string(def.Type)), Config: make(map[string]string, len(def.Config.Entries))}
	for _, entry := range def.Config.Entries {
		if _, twice := plan.Config[entry.Key.Value]; twice {
			r.check(fault.ModelDuplicate, entry.Key.Span, "CONFIG has the key '"+entry.Key.Value+"' twice")
		}
		plan.Config[entry.Key.Value] = literalText(entry.Value)
		checkOption(r, def.Type, known, entry)
	}
	for _, o := range known {
		if o.required && def.Config.Find(o.key) == nil {
			r.at(fault.StageCheck, fault.ModelOption, configSpan(def), "CONFIG of a "+string(def.Type)+" client needs the key '"+o.key+"'", "")
		}
	}
	if !r.failed {
		b.g.Clients = append(b.g.Clients, plan)
	}
}

func configSpan(def *ast.CreateClient) fault.Span {
	if def.Config.Span.Length > 0 {
		return def.Config.Span
	}
	return def.Name.Span
}

func checkOption(r *report, kind ast.ClientType, known []option, entry ast.MapEntry) {
	names := make([]string, len(known))
	for i, o := range known {
		names[i] = o.key
		if o.key != entry.Key.Value {
			continue
		}
		if problem := o.problem(entry.Value); problem != "" {
			r.check(fault.ModelOption, entry.Value.Span, "'"+o.key+"' "+problem)
		}
		return
	}
	hint := suggestion(entry.Key.Value, names)
	if hint == "" {
		hint = "its keys are " + strings.Join(names, ", ")
	}
	r.at(fault.StageCheck, fault.ModelOption, entry.Key.Span, "CONFIG of a "+string(kind)+" client has no key '"+entry.Key.Value+"'", hint)
}

// absolutePath checks the root of a FILE client. Whether it lies below the node's --file-root is for the node to say.
func absolutePath(v *ast.Literal) string {
	switch {
	case v.Kind != ast.LiteralString:
		return "must be a string with an absolute path"
	case !strings.HasPrefix(v.Text, "/"):
		return "must be an absolute path; it begins with /"
	default:
		return pathProblem(v.Text)
	}
}

func lineBytes(v *ast.Literal) string {
	if v.Kind != ast.LiteralInt || v.Int == 0 || v.Int > maxLineBytes {
		return "must be a whole number of bytes, 1.." + strconv.Itoa(maxLineBytes)
	}
	return ""
}

// literalText is a CONFIG value as connectors get it.
func literalText(v *ast.Literal) string {
	if v.Kind == ast.LiteralBool {
		return strconv.FormatBool(v.Bool)
	}
	return v.Text
}

// relativePath says what is wrong with the PATH of a file below a client's root; empty when it is good.
func relativePath(text string) string {
	switch {
	case text == "":
		return "must not be empty"
	case strings.HasPrefix(text, "/"):
		return "must be relative to the root of the client"
	case strings.HasSuffix(text, "/") || path.Clean(text) == ".":
		return "must name a file"
	default:
		return pathProblem(text)
	}
}

func pathProblem(text string) string {
	if strings.ContainsRune(text, 0) {
		return "must not hold a NUL character"
	}
	for _, part := range strings.Split(text, "/") {
		if part == ".." {
			return "must not hold .."
		}
	}
	return ""
}

// clientFor finds the client of a source or sink and checks its type.
func (b *builder) clientFor(r *report, name ast.Ident, kind ast.ClientType) *Client {
	client := b.g.Client(name.Name)
	if client == nil {
		return nil
	}
	if client.Kind != strings.ToLower(string(kind)) {
		r.check(fault.ModelClient, name.Span,
			object(client.Ref)+" is of type "+strings.ToUpper(client.Kind)+"; a client of type "+string(kind)+" is needed here", client.Ref)
		return nil
	}
	return client
}

// checkRetry checks that the backoff can grow (nspl 14.2).
func checkRetry(r *report, retry ast.Retry) Retry {
	if retry.Max.NS < retry.Backoff.NS {
		r.check(fault.ModelRetry, retry.Span, "MAX "+retry.Max.Text+" of the retry policy is shorter than BACKOFF "+retry.Backoff.Text)
	}
	return Retry{Backoff: duration(retry.Backoff), MaxBackoff: duration(retry.Max)}
}

// checkWriters refuses two emitters with one target: two writers would tear each other's lines (nspl 14.6).
func (b *builder) checkWriters() {
	first := make(map[string]*Emitter, len(b.g.Emitters))
	for _, e := range b.g.Emitters {
		if e.Sink.Kind != "file" {
			continue
		}
		target := path.Join(e.Client.Config["root"], e.Sink.Options["path"])
		other := first[target]
		if other == nil {
			first[target] = e
			continue
		}
		b.tellWriters(other, e)
	}
}

// tellWriters tells the conflict at the emitter that the request brought, or that is later in the alphabet.
func (b *builder) tellWriters(one, two *Emitter) {
	a, z := b.c.entries[one.Ref], b.c.entries[two.Ref]
	if a.origin > z.origin {
		a, z = z, a
	}
	sink := z.def.(*ast.CreateEmitter).Sink.(*ast.FileSink)
	r := &report{c: b.c, e: z}
	r.at(fault.StagePlan, fault.ModelWriter, sink.Path.Span, object(a.ref)+" writes this file already", "", a.ref)
}
