// SPDX-License-Identifier: Apache-2.0

package clockowners

import (
	"path"
	"regexp"
	"strings"
)

// foreign are the clocks and timers of C, C++, Rust and JavaScript.
var foreign = regexp.MustCompile(`\b(?:clock_gettime|gettimeofday|timespec_get|nanosleep|usleep|time\s*\(\s*(?:NULL|0|nullptr)|Date\.now|new\s+Date\s*\(\s*\)|performance\.now|` +
	`setTimeout|setInterval|requestAnimationFrame|(?:system_clock|steady_clock|SystemTime|Instant)::now|sleep_for|thread::sleep)`)

// scanText finds the uses of other languages by their words.
func scanText(file string, text []byte) []Use {
	var uses []Use
	for n, line := range strings.Split(string(uncommented(text, script(file))), "\n") {
		for _, m := range foreign.FindAllString(line, -1) {
			call := strings.TrimRight(strings.Join(strings.Fields(m), ""), "()")
			uses = append(uses, Use{Package: path.Dir(file), File: file, Line: n + 1, Call: call})
		}
	}
	return uses
}

func script(file string) bool {
	ext := path.Ext(file)
	return ext == ".js" || ext == ".mjs" || ext == ".ts" || ext == ".html"
}

// uncommented blanks out comments, so that lines keep their numbers. Texts are kept: a clock named in one is rather found than missed. A single quote begins a text in
// scripts, and a character elsewhere.
func uncommented(text []byte, single bool) []byte {
	out := append([]byte(nil), text...)
	quote := byte(0)
	for i := 0; i < len(out); i++ {
		switch c := out[i]; {
		case quote != 0:
			if c == '\\' {
				i++
			} else if c == quote || c == '\n' && quote != '`' {
				quote = 0
			}
		case c == '"' || c == '`' || c == '\'' && single || c == '\'' && i+2 < len(out) && (out[i+1] == '\\' || out[i+2] == '\''):
			quote = c
		case c == '/' && i+1 < len(out) && out[i+1] == '/':
			for ; i < len(out) && out[i] != '\n'; i++ {
				out[i] = ' '
			}
		case c == '/' && i+1 < len(out) && out[i+1] == '*':
			end := strings.Index(string(out[i+2:]), "*/")
			if end < 0 {
				end = len(out) - i - 4
			}
			for j := i; j < i+2+end+2; j++ {
				if out[j] != '\n' {
					out[j] = ' '
				}
			}
			i += 2 + end + 1
		}
	}
	return out
}
