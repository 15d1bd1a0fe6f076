// SPDX-License-Identifier: Apache-2.0

package guests

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/nervix-go/nervix/wasm/engine/watguest"
)

// The memory of the puppet, in its order: texts of errors, the queue of staged messages (address and length of each), the template of a plain
// answer, the script from the branch key, the script of the row, the ABI's buffer of one MiB, and the messages that wait to be read.
const (
	puppetErrors   = 0x100
	puppetQueue    = 0x2000
	puppetTemplate = 0x8000
	puppetBirth    = 0xc000
	puppetScript   = 0x10000
	puppetBuffer   = 0x100000
	puppetStaged   = 0x200000
	puppetPages    = 64
)

// A script is sections, each the letter of an export and what to do there: `p(ix)` adds one to the counter in process_batch and traps. It
// ends with a semicolon. The row's script goes before the one in the branch key. Without a section, or after one that sets no answer, the
// export does what a good guest would.
const (
	inInit, inAlloc, inPtr, inLen, inCapacity, inProcess = "i", "a", "b", "n", "c", "p"
	inTimeout, inFlush, inRead, inDump, inLoad, inReset  = "t", "f", "m", "d", "s", "z"
	inErrorPtr, inErrorLen, inClear, inTime              = "g", "h", "j", "y"
)

// op is one letter of a script and what the puppet does for it; $take(n) reads n digits behind the letter.
type op struct{ letter, code string }

var ops = []op{
	{"x", "unreachable"},
	{"r", "(global.set $res (i64.extend_i32_s (i32.wrap_i64 (call $take (i32.const 8))))) (global.set $has (i32.const 1))"},
	{"l", "(loop $ever (br $ever))"},
	{"c", "(call $recurse)"},
	{"g", "(drop (memory.grow (i32.wrap_i64 (call $take (i32.const 8)))))"},
	{"G", "(loop $more (br_if $more (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))"},
	{"m", `(local.set $n (call $take (i32.const 8)))
	   (loop $fill (memory.fill (i32.const 0x100000) (i32.const 0) (i32.const 0x100000))
	     (local.set $n (i64.sub (local.get $n) (i64.const 1))) (br_if $fill (i64.gt_s (local.get $n) (i64.const 0))))`},
	{"f", "(local.set $n (call $take (i32.const 8))) (loop $burn (local.set $n (i64.sub (local.get $n) (i64.const 1))) (br_if $burn (i64.gt_s (local.get $n) (i64.const 0))))"},
	{"e", "(global.set $error (i32.wrap_i64 (call $take (i32.const 8)))) (global.set $errlen (i32.wrap_i64 (call $take (i32.const 8))))"},
	{"E", `(global.set $errlen (i32.wrap_i64 (call $take (i32.const 4))))
	   (memory.copy (i32.const 0x100) (global.get $pc) (global.get $errlen)) (global.set $error (i32.const 0x100))
	   (global.set $pc (i32.add (global.get $pc) (global.get $errlen)))`},
	{"t", "(drop (call $after (call $take (i32.const 16))))"},
	{"y", "(global.set $handle (call $after (i64.const 0x3fffffffffffffff)))"},
	{"Y", "(if (i64.ne (global.get $handle) (call $take (i32.const 4))) (then (return)))"},
	{"A", "(global.set $count (i64.add (global.get $count) (global.get $handle)))"},
	{"B", `(local.set $n (call $take (i32.const 8)))
	   (loop $ask (drop (call $after (i64.const 0x3fffffffffffffff))) (local.set $n (i64.sub (local.get $n) (i64.const 1))) (br_if $ask (i64.gt_s (local.get $n) (i64.const 0))))`},
	{"z", "(global.set $count (i64.add (global.get $count) (i64.extend_i32_s (call $reset))))"},
	{"b", "(global.set $buf (i32.wrap_i64 (call $take (i32.const 8))))"},
	{"v", "(global.set $moving (i32.const 1))"},
	{"o", `(local.set $n (call $take (i32.const 6))) (call $begin)
	   (loop $byte (if (i64.gt_s (local.get $n) (i64.const 0)) (then
	     (i32.store8 (global.get $top) (i32.wrap_i64 (call $take (i32.const 2)))) (global.set $top (i32.add (global.get $top) (i32.const 1)))
	     (local.set $n (i64.sub (local.get $n) (i64.const 1))) (br $byte))))
	   (call $end)`},
	{"p", "(call $patch (i32.wrap_i64 (call $take (i32.const 6))) (i64.add (global.get $token) (call $take (i32.const 16))))"},
	{"q", "(call $patch (i32.wrap_i64 (call $take (i32.const 6))) (i64.add (global.get $held) (call $take (i32.const 16))))"},
	{"h", "(global.set $held (global.get $token))"},
	{"n", "(call $patch (i32.wrap_i64 (call $take (i32.const 6))) (global.get $count))"},
	{"i", "(global.set $count (i64.add (global.get $count) (i64.const 1)))"},
	{"k", "(call $plain)"},
	{"u", "(drop (i32.load (i32.wrap_i64 (call $take (i32.const 8)))))"},
	{"w", "(i32.store (i32.wrap_i64 (call $take (i32.const 8))) (i32.wrap_i64 (call $take (i32.const 8))))"},
}

// puppetCode is the rest: reading a script, the queue of messages, the tokens of an input.
const puppetCode = `
  (global $buf (mut i32) (i32.const 0x100000)) (global $moving (mut i32) (i32.const 0))
  (global $pc (mut i32) (i32.const 0)) (global $has (mut i32) (i32.const 0)) (global $res (mut i64) (i64.const 0))
  (global $count (mut i64) (i64.const 0)) (global $token (mut i64) (i64.const 0)) (global $held (mut i64) (i64.const 0)) (global $handle (mut i64) (i64.const 0))
  (global $head (mut i32) (i32.const 0)) (global $tail (mut i32) (i32.const 0)) (global $top (mut i32) (i32.const 0x200000)) (global $last (mut i32) (i32.const 0))

  (func $take (param $n i32) (result i64) (local $v i64) (local $c i32)
    (loop $digit
      (local.set $c (i32.load8_u (global.get $pc)))
      (local.set $v (i64.or (i64.shl (local.get $v) (i64.const 4)) (i64.extend_i32_u (select (i32.sub (local.get $c) (i32.const 87)) (i32.sub (local.get $c) (i32.const 48)) (i32.gt_u (local.get $c) (i32.const 57))))))
      (global.set $pc (i32.add (global.get $pc) (i32.const 1)))
      (local.set $n (i32.sub (local.get $n) (i32.const 1)))
      (br_if $digit (local.get $n)))
    (local.get $v))
  (func $recurse (call $recurse) (call $recurse))

  ;; Where a section of a script begins, or 0.
  (func $section (param $p i32) (param $letter i32) (result i32) (local $c i32)
    (loop $next
      (local.set $c (i32.load8_u (local.get $p)))
      (if (i32.or (i32.eqz (local.get $c)) (i32.eq (local.get $c) (i32.const 59))) (then (return (i32.const 0))))
      (if (i32.eq (local.get $c) (local.get $letter)) (then (return (i32.add (local.get $p) (i32.const 2)))))
      (loop $skip
        (local.set $p (i32.add (local.get $p) (i32.const 1)))
        (br_if $skip (i32.ne (i32.load8_u (local.get $p)) (i32.const 41))))
      (local.set $p (i32.add (local.get $p) (i32.const 1)))
      (br $next))
    unreachable)
  ;; Runs the section of an export if there is one; $has says whether it set an answer.
  (func $run (param $letter i32) (result i32) (local $p i32)
    (global.set $has (i32.const 0))
    (local.set $p (call $section (i32.const 0x10000) (local.get $letter)))
    (if (i32.eqz (local.get $p)) (then (local.set $p (call $section (i32.const 0xc000) (local.get $letter)))))
    (if (i32.eqz (local.get $p)) (then (return (i32.const 0))))
    (global.set $pc (local.get $p))
    (call $exec)
    (i32.const 1))
  ;; Finds a mark of four bytes, and copies the script behind it; gives the place behind that, or 0.
  (func $load (param $p i32) (param $end i32) (param $mark i32) (param $to i32) (result i32) (local $c i32)
    (i32.store8 (local.get $to) (i32.const 0))
    (loop $find
      (if (i32.ge_u (i32.add (local.get $p) (i32.const 4)) (local.get $end)) (then (return (i32.const 0))))
      (if (i32.ne (i32.load (local.get $p)) (local.get $mark)) (then (local.set $p (i32.add (local.get $p) (i32.const 1))) (br $find))))
    (local.set $p (i32.add (local.get $p) (i32.const 4)))
    (loop $copy
      (local.set $c (i32.load8_u (local.get $p)))
      (i32.store8 (local.get $to) (local.get $c))
      (local.set $to (i32.add (local.get $to) (i32.const 1)))
      (local.set $p (i32.add (local.get $p) (i32.const 1)))
      (br_if $copy (i32.ne (local.get $c) (i32.const 59))))
    (local.get $p))

  (func $begin
    (if (i32.ge_u (global.get $head) (global.get $tail)) (then (call $clear)))
    (global.set $last (global.get $top)))
  (func $end
    (i32.store (i32.add (i32.const 0x2000) (i32.shl (global.get $tail) (i32.const 3))) (global.get $last))
    (i32.store offset=4 (i32.add (i32.const 0x2000) (i32.shl (global.get $tail) (i32.const 3))) (i32.sub (global.get $top) (global.get $last)))
    (global.set $tail (i32.add (global.get $tail) (i32.const 1)))
    (global.set $top (i32.and (i32.add (global.get $top) (i32.const 7)) (i32.const -8))))
  (func $clear (global.set $head (i32.const 0)) (global.set $tail (i32.const 0)) (global.set $top (i32.const 0x200000)))
  (func $patch (param $at i32) (param $v i64) (i64.store (i32.add (global.get $last) (local.get $at)) (local.get $v)))
  (func $plain
    (global.set $count (i64.add (global.get $count) (i64.const 1)))
    (call $begin)
    (memory.copy (global.get $top) (i32.const 0x8000) (i32.const TEMPLATE_SIZE))
    (global.set $top (i32.add (global.get $top) (i32.const TEMPLATE_SIZE)))
    (call $end)
    TEMPLATE_PATCHES)
  (func $emit (result i32) (local $at i32) (local $n i32)
    (if (i32.ge_u (global.get $head) (global.get $tail)) (then (call $clear) (return (i32.const 0))))
    (local.set $at (i32.load (i32.add (i32.const 0x2000) (i32.shl (global.get $head) (i32.const 3)))))
    (local.set $n (i32.load offset=4 (i32.add (i32.const 0x2000) (i32.shl (global.get $head) (i32.const 3)))))
    (global.set $head (i32.add (global.get $head) (i32.const 1)))
    (memory.copy (global.get $buf) (local.get $at) (local.get $n))
    (local.get $n))

  ;; The rows of an input: a vector of tables with the source token in slot 1.
  (func $follow (param $at i32) (result i32) (i32.add (local.get $at) (i32.load (local.get $at))))
  (func $field (param $table i32) (param $slot i32) (result i32)
    (i32.add (local.get $table) (i32.load16_u offset=4 (i32.add (i32.sub (local.get $table) (i32.load (local.get $table))) (i32.shl (local.get $slot) (i32.const 1))))))
  (func $member (param $table i32) (param $slot i32) (result i32) (call $follow (call $field (local.get $table) (local.get $slot))))
  (func $rows (param $p i32) (result i32)
    (call $member (call $member (call $member (call $follow (i32.add (local.get $p) (i32.const 4))) (i32.const 1)) (i32.const 1)) (i32.const 0)))
  (func $batch (param $p i32) (param $size i32) (result i32) (local $rows i32) (local $n i32) (local $i i32) (local $at i32) (local $end i32)
    (call $clear)
    (local.set $rows (call $rows (local.get $p)))
    (local.set $n (i32.load (local.get $rows)))
    (local.set $at (local.get $p))
    (local.set $end (i32.add (local.get $p) (local.get $size)))
    (block $done (loop $row
      (br_if $done (i32.ge_u (local.get $i) (local.get $n)))
      (global.set $token (i64.load (call $field (call $follow (i32.add (i32.add (local.get $rows) (i32.const 4)) (i32.shl (local.get $i) (i32.const 2)))) (i32.const 1))))
      (local.set $at (call $load (local.get $at) (local.get $end) (i32.const ROW_MARK) (i32.const 0x10000)))
      (if (i32.eqz (local.get $at)) (then (local.set $at (local.get $end))))
      (if (i32.eqz (call $run (i32.const 112))) (then (call $plain)))
      (if (global.get $has) (then (return (i32.wrap_i64 (global.get $res)))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br $row)))
    (i32.const 0))
  (func $alloc (param $n i32) (result i32)
    (if (global.get $moving) (then (global.set $buf (i32.xor (global.get $buf) (i32.const 0x40008)))))
    (if (i32.gt_u (local.get $n) (i32.const 0x100000)) (then (return (i32.const 0))))
    (global.get $buf))
  (func $dump (result i32)
    (if (i64.eqz (global.get $count)) (then (return (i32.const 0))))
    (i64.store (global.get $buf) (global.get $count))
    (i64.store offset=8 (global.get $buf) (global.get $held))
    (i32.const 16))
  (func $restore (param $p i32) (param $n i32) (result i32)
    (if (i32.ne (local.get $n) (i32.const 16)) (then (return (i32.const -7))))
    (global.set $count (i64.load (local.get $p)))
    (global.set $held (i64.load offset=8 (local.get $p)))
    (i32.const 0))
`

// puppet is the text of the module. Its plain answer to a row is the row's first two columns and the counter.
func puppet() string { return puppetWith(rowMark, keyMark, "out") }

// calmPuppet never finds a script, and carries every row to the relay calm.
func calmPuppet() string { return puppetWith("....", "....", "calm") }

func puppetWith(row, key, relay string) string {
	plain := plainAnswer(relay)
	var patches, exec strings.Builder
	for _, p := range plain.patches() {
		value := map[rune]string{'p': "(global.get $token)", 'n': "(global.get $count)"}[p.what]
		fmt.Fprintf(&patches, "(call $patch (i32.const %d) %s)", p.at, value)
	}
	exec.WriteString("  (func $exec (local $c i32) (local $n i64) (loop $next\n    (local.set $c (i32.load8_u (global.get $pc))) (global.set $pc (i32.add (global.get $pc) (i32.const 1)))\n")
	for _, o := range ops {
		fmt.Fprintf(&exec, "    (if (i32.eq (local.get $c) (i32.const %d)) (then %s (br $next)))\n", o.letter[0], o.code)
	}
	exec.WriteString("    (if (i32.ne (local.get $c) (i32.const 41)) (then unreachable))))\n")
	code := strings.NewReplacer("TEMPLATE_SIZE", fmt.Sprint(len(plain.bytes)), "TEMPLATE_PATCHES", patches.String(), "ROW_MARK", mark(row)).Replace(puppetCode)
	first := func(letter, otherwise string) string {
		return fmt.Sprintf("(drop (call $run (i32.const %d))) (if (global.get $has) (then (return (i32.wrap_i64 (global.get $res))))) %s", letter[0], otherwise)
	}
	return watguest.Guest{
		Memory: fmt.Sprint(puppetPages), Errors: true,
		Extra: code + exec.String() + fmt.Sprintf("  (data (i32.const %d) \"%s\")\n", puppetTemplate, escaped(plain.bytes)),
		Bodies: map[string]string{
			"nervix_buffer_ptr":      first(inPtr, "global.get $buf"),
			"nervix_buffer_len":      first(inLen, "i32.const 0"),
			"nervix_buffer_capacity": first(inCapacity, "i32.const 0x100000"),
			"nervix_alloc":           first(inAlloc, "(call $alloc (local.get 0))"),
			"nervix_init": "(drop (call $load (local.get 0) (i32.add (local.get 0) (local.get 1)) (i32.const " + mark(key) + ") (i32.const 0xc000)))" +
				first(inInit, "i32.const 0"),
			"nervix_current_domain_time_nanos": fmt.Sprintf("(drop (call $run (i32.const %d))) global.get $res", inTime[0]),
			"nervix_process_batch":             "(call $batch (local.get 0) (local.get 1))",
			"nervix_on_timeout":                "(call $clear)" + first(inTimeout, "i32.const 0"),
			"nervix_flush":                     "(call $clear)" + first(inFlush, "i32.const 0"),
			"nervix_read_emit":                 first(inRead, "(call $emit)"),
			"nervix_dump_state":                first(inDump, "(call $dump)"),
			"nervix_load_state":                first(inLoad, "(call $restore (local.get 0) (local.get 1))"),
			"nervix_reset_state":               first(inReset, "unreachable"),
			"nervix_global_error_ptr":          first(inErrorPtr, "global.get $error"),
			"nervix_global_error_len":          first(inErrorLen, "global.get $errlen"),
			"nervix_clear_global_error":        first(inClear, "(global.set $errlen (i32.const 0)) i32.const 0"),
		},
	}.Text()
}

// mark is four letters as a number.
func mark(letters string) string { return fmt.Sprint(binary.LittleEndian.Uint32([]byte(letters))) }

// escaped are bytes as a string of WebAssembly text.
func escaped(b []byte) string {
	var s strings.Builder
	for _, c := range b {
		fmt.Fprintf(&s, "\\%02x", c)
	}
	return s.String()
}
