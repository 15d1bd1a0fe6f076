// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/nervix-go/nervix/client"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// printer shows results: tables on standard output and diagnostics on standard error, or one JSON object a statement.
type printer struct {
	terminal
	format string
}

// notef tells something about the run.
func (p printer) notef(format string, args ...any) {
	fmt.Fprintf(p.err, "nervix: "+format+"\n", args...)
}

// result shows the fate of one statement. The error is that of standard output.
func (p printer) result(src *source, r result) error {
	if p.format == formatJSONL {
		return writeLine(p.out, objectOf(src, r))
	}
	return p.table(src, r)
}

func (p printer) table(src *source, r result) error {
	if r.consequence {
		return nil // the statement to blame says it
	}
	for _, d := range r.diagnostics {
		fmt.Fprint(p.err, src.render(d))
	}
	switch {
	case r.disposition == client.Unknown:
		p.notef("statement %d: result unknown, reference %s", r.statement, r.reference)
		return nil
	case !r.completed():
		if r.text != "" {
			p.notef("statement %d: %s", r.statement, r.text)
		}
		return nil
	}
	text := r.text
	if _, show := r.parsed.Stmt.(*ast.ShowCreate); show {
		text += ";"
	}
	if _, list := r.parsed.Stmt.(*ast.ListDomains); r.data != "" && !list { // LIST DOMAINS always brings data; people read its lines
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, []byte(r.data), "", "  "); err != nil {
			return err
		}
		text = pretty.String()
	}
	if text == "" {
		return nil
	}
	_, err := io.WriteString(p.out, strings.TrimSuffix(text, "\n")+"\n")
	return err
}

// end shows the text of the COMMIT that --atomic sent.
func (p printer) end(text string) {
	if text != "" && p.format == formatTable {
		fmt.Fprintln(p.out, text)
	}
}

// defects shows what keeps an input from being sent.
func (p printer) defects(src *source, list []defect) {
	if p.format == formatTable {
		for _, d := range list {
			fmt.Fprint(p.err, src.render(d.Diagnostic))
		}
		return
	}
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].statement == list[0].statement {
			n++
		}
		r := result{statement: list[0].statement, disposition: client.Failed}
		for _, d := range list[:n] {
			r.diagnostics = append(r.diagnostics, d.Diagnostic)
		}
		if err := writeLine(p.out, objectOf(src, r)); err != nil {
			p.notef("standard output: %v", err)
			return
		}
		list = list[n:]
	}
}

// object is one line of jsonl.
type object struct {
	Statement      int                `json:"statement"`
	Disposition    client.Disposition `json:"disposition"`
	Reference      string             `json:"reference"`
	AlreadyExisted bool               `json:"already_existed"`
	Text           string             `json:"text"`
	Data           json.RawMessage    `json:"data"`
	Diagnostics    []place            `json:"diagnostics"`
}

// place is a diagnostic of a jsonl line. Offset and length count bytes of the whole input, line and column start at 1, and the column
// counts characters.
type place struct {
	Stage   fault.Stage `json:"stage"`
	Code    fault.Code  `json:"code"`
	Message string      `json:"message"`
	Offset  int         `json:"offset"`
	Length  int         `json:"length"`
	Line    int         `json:"line"`
	Column  int         `json:"column"`
	Hint    string      `json:"hint"`
}

func objectOf(src *source, r result) object {
	o := object{Statement: r.statement, Disposition: r.disposition, Reference: r.reference, AlreadyExisted: r.alreadyExisted, Text: r.text,
		Diagnostics: []place{}}
	if r.data != "" {
		o.Data = json.RawMessage(r.data) // the encoder puts it on one line
	}
	for _, d := range r.diagnostics {
		line, column := fault.Position(src.text, d.Span.Offset)
		o.Diagnostics = append(o.Diagnostics, place{d.Stage, d.Code, d.Message, d.Span.Offset, d.Span.Length, line, column, d.Hint})
	}
	return o
}

// writeLine writes a value as one line of JSON.
func writeLine(w io.Writer, value any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(value)
}
