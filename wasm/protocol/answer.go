// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

func refuse(code fault.Code, op, detail string, cause error) error {
	return fault.New(code, "protocol."+op, ident.Ref{}, detail, cause)
}

// JudgeStatus judges the answer of nervix_init, nervix_process_batch, nervix_on_timeout and nervix_flush: 0 is success, a negative code a
// rejection, and a positive one is against the contract and fails as well. Fault: wasm.result.
func JudgeStatus(export string, code int32) error {
	switch {
	case code == 0:
		return nil
	case code < 0:
		return refuse(fault.WasmResult, "JudgeStatus", fmt.Sprintf("wasm guest rejected the call of %s with code %d", export, code), nil)
	default:
		return refuse(fault.WasmResult, "JudgeStatus", fmt.Sprintf("wasm guest answered the call of %s with %d, which is no status code", export, code), nil)
	}
}

// JudgeLength judges the answer of nervix_read_emit and nervix_dump_state: the number of bytes that wait at nervix_buffer_ptr, 0 for
// nothing. Faults: wasm.result for a negative code, wasm.buffer above MaxBuffer (W-044).
func JudgeLength(export string, code int32) (int, error) {
	if code < 0 {
		return 0, JudgeStatus(export, code)
	}
	return int(code), JudgeSize(int(code))
}

// JudgeSize holds a message or saved state to MaxBuffer. Fault: wasm.buffer.
func JudgeSize(size int) error {
	if size <= MaxBuffer {
		return nil
	}
	return refuse(fault.WasmBuffer, "JudgeSize", fmt.Sprintf("guest buffer size %d exceeds configured limit %d", size, MaxBuffer), nil)
}

// JudgeRestore judges the answer of nervix_load_state. The stage says how the restore failed: only the two reserved codes are verdicts on
// the saved bytes (W-029 to W-031, W-129). It is empty on success. Fault: wasm.result.
func JudgeRestore(code int32) (Stage, error) {
	switch code {
	case 0:
		return "", nil
	case CodeSnapshotRejected:
		return StageSnapshotDecoding, refuse(fault.WasmResult, "JudgeRestore", "wasm guest cannot decode its saved snapshot", nil)
	case CodeStateRejected:
		return StageStateRestoration, refuse(fault.WasmResult, "JudgeRestore", "wasm guest rejected the application state in its saved snapshot", nil)
	default:
		return StageStateRestore, JudgeStatus(ExportLoadState, code)
	}
}

// Because puts the guest's own reason at the end of the chain of an error (W-250); without a reason it gives the error back.
func Because(err error, reason string) error {
	if err == nil || reason == "" {
		return err
	}
	if f, ok := err.(*fault.Error); ok {
		with := *f
		with.Err = Because(f.Err, reason)
		if f.Err == nil {
			with.Err = guestReason(reason)
		}
		return &with
	}
	return refuse(fault.WasmResult, "Because", err.Error(), guestReason(reason))
}

// guestReason is the text of a guest as the last cause of an error.
type guestReason string

func (r guestReason) Error() string { return string(r) }

// Reason reads the bytes of the error channel, or the reason of a decision (W-097). They are copied; what is longer than MaxReason is cut at a
// character. Characters that a terminal or a reader of logs would obey become U+FFFD, so that a reason stays one line of plain text. Text
// that is not UTF-8 is an error of its own: wasm.reason.
func Reason(b []byte) (string, error) {
	if !utf8.Valid(b) {
		return "", refuse(fault.WasmReason, "Reason", "the error text of the wasm guest is not UTF-8", nil)
	}
	if len(b) <= MaxReason {
		return strings.Map(printed, string(b)), nil
	}
	end := MaxReason
	for !utf8.RuneStart(b[end]) {
		end--
	}
	return strings.Map(printed, string(b[:end])) + fmt.Sprintf(" ... (%d of %d bytes)", end, len(b)), nil
}

// printed replaces controls, separators of lines and the marks that turn the direction of text.
func printed(r rune) rune {
	switch {
	case unicode.IsControl(r), r == '\u2028', r == '\u2029', unicode.Is(unicode.Bidi_Control, r):
		return utf8.RuneError
	default:
		return r
	}
}
