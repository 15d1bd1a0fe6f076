// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/expr/construct"
	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/model"
	"github.com/nervix-go/nervix/host/node/runtime"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/parse"
	"github.com/nervix-go/nervix/host/recycler"
)

// kernels runs the codec and the expressions of the pipeline over the file in one process: what the path between them costs is what Nervix
// needs above this.
func kernels(input, output string) error {
	graph, err := graphOf(pipeline)
	if err != nil {
		return err
	}
	codec, route := graph.Codecs[0], graph.Junctions[0].Routes[0].Construct
	decoder, encoder := codec.NewDecoder(), codec.NewEncoder()
	in, err := os.Open(input)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(output)
	if err != nil {
		return err
	}
	alloc, scratch := &recycler.Allocator{}, expr.NewScratch()
	var outcome construct.Outcome
	err = eachBatch(in, func(payloads *array.Binary) error {
		decoded, err := decoder.Decode(alloc, payloads, nil)
		if err != nil {
			return err
		}
		if len(decoded.Rejects) > 0 {
			return errors.New(decoded.Rejects[0].Text)
		}
		defer decoded.Release()
		env := expr.Env{Rows: decoded.Len(), Alloc: alloc, Scratch: scratch}
		env.Columns[expr.RecordInput] = decoded.Columns
		route.Run(&env, &outcome)
		rows, _ := runtime.RowsOf(outcome.Keep, env.Rows)
		record := array.NewRecordBatch(codec.Schema.Arrow(), outcome.Columns, int64(env.Rows))
		kept, _, _ := batch.Gather(codec.Schema.Arrow(), []batch.Piece{{Record: record, Rows: rows, Low: marks(env.Rows), High: marks(env.Rows)}}, alloc)
		encoded, err := encoder.Encode(alloc, kept, nil)
		if err != nil {
			return err
		}
		kept.Release()
		defer encoded.Release()
		return writeLines(out, encoded.Payloads)
	})
	if err != nil {
		return err
	}
	if err := out.Sync(); err != nil {
		return err
	}
	return out.Close()
}

var zeros [1 << 16]int64

func marks(n int) []int64 { return zeros[:n] }

func graphOf(text string) (*model.Graph, error) {
	statements, diagnostics := parse.Text(string(bytes.ReplaceAll([]byte(text), []byte("@ROOT@"), []byte("/"))))
	if len(diagnostics) > 0 {
		return nil, diagnostics
	}
	var definitions []ast.Definition
	for _, s := range statements {
		if d, ok := s.Stmt.(ast.Definition); ok {
			if _, domain := d.(*ast.CreateDomain); !domain {
				definitions = append(definitions, d)
			}
		}
	}
	graph, diagnostics := model.Build("b", definitions)
	if len(diagnostics) > 0 {
		return nil, diagnostics
	}
	return graph, nil
}

// eachBatch cuts the file into columns of whole lines of about 256 KiB, without copying the lines.
func eachBatch(in io.Reader, visit func(*array.Binary) error) error {
	buffer := make([]byte, 512<<10)
	have := 0
	for {
		n, err := in.Read(buffer[have:])
		have += n
		end := bytes.LastIndexByte(buffer[:have], '\n') + 1
		if end > 0 {
			if err := visit(lines(buffer[:end])); err != nil {
				return err
			}
			have = copy(buffer, buffer[end:have])
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func lines(text []byte) *array.Binary {
	values := bytes.Clone(text)
	offsets := []int32{0}
	var data []byte = values[:0]
	for len(text) > 0 {
		n := bytes.IndexByte(text, '\n')
		data = append(data, text[:n]...)
		offsets = append(offsets, int32(len(data)))
		text = text[n+1:]
	}
	buffers := []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(offsets)), memory.NewBufferBytes(data)}
	return array.NewBinaryData(array.NewData(arrow.BinaryTypes.Binary, len(offsets)-1, buffers, nil, 0, 0))
}

func writeLines(out io.Writer, payloads *array.Binary) error {
	var block []byte
	for i := range payloads.Len() {
		block = append(append(block, payloads.Value(i)...), '\n')
	}
	_, err := out.Write(block)
	return err
}
