// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/wasm/protocol"
)

// Failure is one failed step of a guest, with what a diagnostic needs to name it (W-246).
type Failure struct {
	Stage protocol.Stage
	// Export is the export whose call failed; NoExport for compilation and instantiation.
	Export Export
	// Gone says that the instance answers nothing any more and is to be closed.
	Gone bool
	// Reason is the guest's own text, if it gave one. It is the end of Cause's text too.
	Reason string
	// Cause carries the code.
	Cause error
}

// Error is stage, export and cause.
func (f *Failure) Error() string {
	if f.Export == NoExport {
		return string(f.Stage) + " failed: " + f.Cause.Error()
	}
	return string(f.Stage) + " failed (export '" + f.Export.String() + "'): " + f.Cause.Error()
}

// Unwrap gives the coded cause.
func (f *Failure) Unwrap() error { return f.Cause }

func coded(code fault.Code, cause error, format string, args ...any) *fault.Error {
	return fault.New(code, "wasm.engine", ident.Ref{}, fmt.Sprintf(format, args...), cause)
}

func compileFailure(code fault.Code, format string, args ...any) *Failure {
	return &Failure{Stage: protocol.StageCompilation, Export: NoExport, Cause: coded(code, nil, format, args...)}
}

var trapTexts = map[int]string{
	0: "call stack exhausted", 1: "out of bounds memory access", 2: "misaligned atomic", 3: "out of bounds table access",
	4: "indirect call of a null element", 5: "indirect call of another type", 6: "integer overflow", 7: "integer division by zero",
	8: "invalid conversion to integer", 9: "unreachable executed",
}

// classify turns a failed result into a Failure. lim and spec supply the figures of the messages.
func classify(op Op, res *Result, spec *Spec, lim *Limits, stopping bool) *Failure {
	cause, gone := cause(res, spec, lim, stopping)
	f := &Failure{Stage: op.Stage(), Export: res.At, Gone: gone, Cause: cause}
	if op == OpInstantiate && res.At != Initialize {
		f.Export = NoExport
	}
	return f.because(res)
}

func cause(res *Result, spec *Spec, lim *Limits, stopping bool) (err error, gone bool) {
	switch res.Status {
	case StatusTrap:
		text, known := trapTexts[res.Trap]
		if !known {
			text = chain(res.Message)
		}
		return coded(fault.WasmTrap, nil, "wasm guest trapped: %s", text), true
	case StatusFuel:
		return coded(fault.WasmFuel, nil, "wasm guest exhausted MAX FUEL %d", spec.Fuel), true
	case StatusEpoch:
		if stopping {
			return errStopping, true
		}
		return coded(fault.WasmTime, nil, "wasm guest ran longer than the %s an operation may take", lim.OperationTime), true
	case StatusMemoryCeiling:
		return coded(fault.WasmMemory, nil, "wasm guest exceeded MAX MEMORY %d: it has %d pages of 64 KiB and asked for %d",
			spec.Memory, res.Memory/pageBytes, (res.Wanted+pageBytes-1)/pageBytes), true
	case StatusMemoryBudget:
		return coded(fault.WasmBudget, nil, "the node's budget for guest memory (%d bytes, %d memory maps) is used up; the guest asked for %d bytes",
			lim.LinearBytes, lim.Maps, res.Wanted), true
	case StatusMemoryOS:
		return coded(fault.WasmBudget, nil, "the operating system refused memory for a guest that asked for %d bytes", res.Wanted), true
	case StatusNoBuffer:
		return coded(fault.WasmRange, nil, "nervix_alloc gave no buffer of %d bytes", res.LiedLen), false
	case StatusRange:
		return coded(fault.WasmRange, nil, "the guest named the range of %d bytes at %d, outside its memory of %d bytes", res.LiedLen, res.LiedPtr, res.Memory), false
	case StatusTooLarge:
		return coded(fault.WasmBuffer, nil, "guest buffer size %d exceeds configured limit %d", res.LiedLen, lim.MaxBuffer), false
	default:
		return coded(fault.WasmTrap, nil, "the engine could not run the guest: %s", chain(res.Message)), true
	}
}

var errStopping = coded(fault.WasmStopped, nil, "the node stops its guests")

// because adds the guest's reason.
func (f *Failure) because(res *Result) *Failure {
	if len(res.Reason) == 0 {
		return f
	}
	text := res.Reason
	if res.ReasonCut {
		text = cutRune(text)
	}
	reason, err := protocol.Reason(text)
	if err != nil {
		reason = protocol.Plain(err)
	} else {
		f.Reason = reason
	}
	f.Cause = protocol.Because(f.Cause, reason)
	return f
}

// judge turns an answer of the guest into a failure: a negative code, one the ABI does not have, or a reason beside success (W-097).
func judge(op Op, entry Export, res *Result) *Failure {
	stage, code := op.Stage(), int32(res.Code)
	var err error
	switch {
	case res.Emitted || entry == DumpState:
		_, err = protocol.JudgeLength(res.At.String(), code)
	case entry == LoadState:
		var verdict protocol.Stage
		if verdict, err = protocol.JudgeRestore(code); verdict != "" {
			stage = verdict
		}
	default:
		err = protocol.JudgeStatus(entry.String(), code)
	}
	if err == nil && len(res.Reason) == 0 {
		return nil
	}
	if err == nil {
		err = coded(fault.WasmResult, nil, "wasm guest reported a global error")
	}
	f := &Failure{Stage: stage, Export: res.At, Cause: err}
	return f.because(res)
}

// cutRune drops the started last rune of a text that was cut at a byte.
func cutRune(b []byte) []byte {
	for k := 1; k < utf8.UTFMax && k <= len(b); k++ {
		if utf8.RuneStart(b[len(b)-k]) {
			if !utf8.FullRune(b[len(b)-k:]) {
				return b[:len(b)-k]
			}
			break
		}
	}
	return b
}

// chain makes one line of the library's text, which has a cause a line; it is cut at 300 bytes.
func chain(s string) string {
	var parts []string
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		if number, rest, ok := strings.Cut(line, ": "); ok && len(number) <= 2 && strings.Trim(number, "0123456789") == "" {
			line = rest
		}
		if line != "" && line != "Caused by:" {
			parts = append(parts, line)
		}
	}
	s = strings.Join(parts, ": ")
	return strings.ToValidUTF8(s[:min(len(s), 300)], "?")
}
