// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"strconv"
	"strings"
	"time"

	"github.com/nervix-go/nervix/host/model"
)

// IngestorStatus is the state of a source (nspl 14.6).
type IngestorStatus string

// The states. Finished is a finite source that delivered everything; Blocked one whose oldest delivery failed three times on a row error.
const (
	StatusRunning  IngestorStatus = "running"
	StatusFinished IngestorStatus = "finished"
	StatusBlocked  IngestorStatus = "blocked"
	StatusQuiesced IngestorStatus = "quiesced"
	StatusStopped  IngestorStatus = "stopped"
)

// QuiesceState says why a source is held (nspl 23.2).
type QuiesceState string

// The reasons.
const (
	QuiesceNone     QuiesceState = "none"
	QuiesceEntity   QuiesceState = "entity hold"
	QuiesceHandoff  QuiesceState = "ownership handoff"
	QuiesceDomain   QuiesceState = "domain pause"
	QuiescePressure QuiesceState = "memory pressure"
)

// IngestorObservation is what the owner of an ingestor knows. The zero value describes one that does not run.
type IngestorObservation struct {
	Status IngestorStatus
	Ready  bool
	// Position is the durable position in the order of the source's own fields, for FILE offset and line; empty when there is none.
	Position []PositionField
	// Unresolved counts deliveries that are not settled, Rejected failed payloads and rows by reason.
	Unresolved uint64
	Rejected   map[string]uint64
	// Skipped counts payloads the source itself left out since it was opened, for FILE empty lines.
	Skipped uint64
	// Blocked is set with StatusBlocked.
	Blocked *Blocked
	Quiesce QuiesceState
	// Holds, Buffered, Dropped and Refused count what happened under quiesce: holds begun, payloads kept, dropped, and sent away.
	Holds, Buffered, Dropped, Refused uint64
	// TransientError is the reason why the source does not deliver now, empty when there is none.
	TransientError string
	// ReconnectBackoff is the wait before the next attempt; 0 when none is under way.
	ReconnectBackoff time.Duration
	Sent             []EdgeObservation
}

// PositionField is one number of a position.
type PositionField struct {
	Name  string
	Value uint64
}

// Blocked says which delivery blocks a source and why. Reason holds no payload value.
type Blocked struct {
	At      []PositionField
	Attempt uint64
	Reason  string
}

// Ingestor describes an ingestor.
func Ingestor(plan *model.Ingestor, at Placement, seen IngestorObservation) Inspection {
	lines := append(head(plan.Ref, at),
		pair{"source", strings.ToUpper(plan.Source.Kind)},
		pair{"client", string(plan.Client.Ref.Name)},
		pair{"options", options(plan.Source.Options)},
		pair{"codec", string(plan.Codec.Ref.Name)},
		pair{"mode", modeWords(plan.Mode)},
		pair{"timestamp", timestampWords(plan)},
		pair{"status", statusWord(seen.Status)},
		pair{"position", position(seen.Position)},
		pair{"unresolved", seen.Unresolved},
		pair{"rejected", sum(seen.Rejected)},
		pair{"rejected by", byClass(seen.Rejected)},
		pair{"skipped", seen.Skipped},
		pair{"blocked", blocked(seen.Blocked)},
		pair{"ready", seen.Ready},
		pair{"quiesce", plan.Quiesce.String()},
		pair{"quiesce state", quiesceWord(seen.Quiesce)},
		pair{"quiesce counters", record{{"holds", seen.Holds}, {"buffered", seen.Buffered}, {"dropped", seen.Dropped}, {"refused", seen.Refused}}},
		pair{"transient error", optional(seen.TransientError)},
		pair{"reconnect backoff", span(seen.ReconnectBackoff)},
	)
	for _, r := range plan.Routes {
		lines = append(lines, output(r.Route, branchWords(r.Branch), plan.Definition.Routes[r.Index].Route))
	}
	return Inspection{append(lines, pair{"metrics", section{{"outgoing_edges", edges("sent", seen.Sent)}}})}
}

func statusWord(s IngestorStatus) string {
	if s == "" {
		return string(StatusStopped)
	}
	return string(s)
}

func quiesceWord(s QuiesceState) string {
	if s == "" {
		return string(QuiesceNone)
	}
	return string(s)
}

func position(fields []PositionField) any {
	if len(fields) == 0 {
		return nil
	}
	var made record
	for _, f := range fields {
		made = append(made, pair{f.Name, f.Value})
	}
	return made
}

func blocked(b *Blocked) any {
	if b == nil {
		return nil
	}
	made, _ := position(b.At).(record)
	return append(made, pair{"attempt", b.Attempt}, pair{"reason", b.Reason})
}

func modeWords(m model.SourceMode) string {
	text := "NO_ACK"
	if m.Ack {
		text = "ACK"
	}
	if !m.Parallel {
		return text + " SEQUENTIAL"
	}
	text += " PARALLEL"
	if m.Ack {
		text += " MAX " + strconv.FormatUint(m.Max, 10)
	}
	return text
}

func timestampWords(plan *model.Ingestor) any {
	switch {
	case !plan.Timestamp.Declared:
		return nil
	case plan.Timestamp.Now:
		return "NOW"
	default:
		return "AT " + string(plan.Codec.Schema.Field(plan.Timestamp.At).Name)
	}
}
