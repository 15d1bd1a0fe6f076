// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"errors"
	"strconv"
	"strings"

	"github.com/nervix-go/nervix/host/kernel/fault"
)

// Stage says what failed, in the words of diagnostics (W-253).
type Stage string

// The stages, in the order of gaps 1.2.
const (
	StageCompilation      Stage = "module compilation"
	StageInstantiation    Stage = "instantiation"
	StageInitialization   Stage = "initialization"
	StageSnapshotDecoding Stage = "snapshot envelope decoding"
	StageStateRestoration Stage = "application state restoration"
	StageStateRestore     Stage = "state restore"
	StageBatch            Stage = "batch processing"
	StageTimeout          Stage = "timeout callback"
	StageFlush            Stage = "quiesce flush"
	StageOutput           Stage = "output emission"
	StageSnapshot         Stage = "state snapshot"
	StagePersistence      Stage = "local state persistence"
	StageReplication      Stage = "state replication"
	StageAuthority        Stage = "state authority check"
	StageRecovery         Stage = "rejected-state recovery"
)

// Stages lists them all.
func Stages() []Stage {
	return []Stage{StageCompilation, StageInstantiation, StageInitialization, StageSnapshotDecoding, StageStateRestoration, StageStateRestore, StageBatch,
		StageTimeout, StageFlush, StageOutput, StageSnapshot, StagePersistence, StageReplication, StageAuthority, StageRecovery}
}

// Export names the guest export that runs an operation of this stage; empty where none does (W-249).
func (s Stage) Export() string {
	switch s {
	case StageInitialization:
		return ExportInit
	case StageSnapshotDecoding, StageStateRestoration, StageStateRestore:
		return ExportLoadState
	case StageBatch:
		return ExportProcessBatch
	case StageTimeout:
		return ExportOnTimeout
	case StageFlush:
		return ExportFlush
	case StageOutput:
		return ExportReadEmit
	case StageSnapshot:
		return ExportDumpState
	default:
		return ""
	}
}

// Failure is one failure of a module or of a branch instance in its one printed shape (W-246). It never holds a key value, a payload or
// saved bytes: Cause is a chain of faults and ends with the guest's reason if it gave one.
type Failure struct {
	Processor string
	Stage     Stage
	// Branch is the lower-case hexadecimal fingerprint of the branch; empty means unbranched.
	Branch   string
	Resource string
	Version  uint64
	File     string
	// Revision is the saved state that was restored or persisted; zero means that none is involved.
	Revision uint64
	Cause    error
}

// Error is the diagnostic.
func (f *Failure) Error() string {
	var b strings.Builder
	b.WriteString("wasm processor '" + f.Processor + "' " + string(f.Stage) + " failed (")
	if f.Stage != StageCompilation {
		if f.Branch == "" {
			b.WriteString("unbranched, ")
		} else {
			b.WriteString("branch " + f.Branch + ", ")
		}
	}
	b.WriteString("resource '" + f.Resource + "' version " + strconv.FormatUint(f.Version, 10) + " file '" + f.File + "'")
	if export := f.Stage.Export(); export != "" {
		b.WriteString(", export '" + export + "'")
	}
	if f.Revision != 0 {
		b.WriteString(", saved state revision " + strconv.FormatUint(f.Revision, 10))
	}
	b.WriteString("): " + Plain(f.Cause))
	return b.String()
}

// Unwrap gives the cause, which has the code.
func (f *Failure) Unwrap() error { return f.Cause }

// Plain prints a chain of faults without their codes, as a diagnostic shows it (W-250).
func Plain(err error) string {
	if err == nil {
		return "unknown cause"
	}
	f, ok := err.(*fault.Error)
	if !ok {
		// A foreign wrapper prints the codes of what it wraps; when it only adds a prefix, the wrapped part is replaced.
		if inner := errors.Unwrap(err); inner != nil {
			return strings.Replace(err.Error(), inner.Error(), Plain(inner), 1)
		}
		return err.Error()
	}
	text := f.Detail
	if text == "" {
		text = strings.TrimSuffix(fault.Lookup(f.Code).Meaning, ".")
	}
	if s := f.Subject.String(); s != "" {
		text = s + ": " + text
	}
	if f.Err != nil {
		text += ": " + Plain(f.Err)
	}
	return text
}
