// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
)

var words = strings.Fields("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi chi psi omega")

// word is what kept messages contain.
const word = "omega"

// generate writes the input, always the same for a number of lines, and returns its size and how many lines are kept.
func generate(path string, lines int) (size int64, kept int) {
	f, err := os.Create(path)
	check(err)
	w := bufio.NewWriterSize(f, 1<<20)
	r := rand.New(rand.NewPCG(7, 7))
	var message []byte
	for i := range lines {
		message = message[:0]
		for n := range 12 {
			if n > 0 {
				message = append(message, ' ')
			}
			message = append(message, words[r.IntN(len(words))]...)
		}
		if bytes.Contains(message, []byte(word)) {
			kept++
		}
		fmt.Fprintf(w, `{"id":%d,"device":"dev-%04d","at":"2026-01-01T00:00:%02dZ","value":%.3f,"ok":%t,"message":"%s"}`+"\n",
			i, i%1000, i%60, r.Float64()*100, i%2 == 0, message)
	}
	check(w.Flush())
	info, err := f.Stat()
	check(err)
	check(f.Close())
	return info.Size(), kept
}

func countLines(path string) int {
	text, err := os.ReadFile(path)
	check(err)
	return bytes.Count(text, []byte{'\n'})
}
