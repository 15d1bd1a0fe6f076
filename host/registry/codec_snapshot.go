// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/wire"
)

// The frame around a snapshot body: magic, format, a reserved half-word, hash of the hard constants, length of the body, body, checksum.
const (
	snapshotMagic  = "NVXS"
	snapshotHeader = 4 + 2 + 2 + 8 + 8
	snapshotTrail  = 8
)

// EncodeSnapshot gives the stored form of a state. Equal states give equal bytes.
func EncodeSnapshot(s *State) []byte {
	body := wire.EncodeControlSnapshot(packState(s))
	b := make([]byte, 0, snapshotHeader+len(body)+snapshotTrail)
	b = append(b, snapshotMagic...)
	b = binary.LittleEndian.AppendUint16(b, SnapshotFormat)
	b = binary.LittleEndian.AppendUint16(b, 0)
	b = binary.LittleEndian.AppendUint64(b, HardHash())
	b = binary.LittleEndian.AppendUint64(b, uint64(len(body)))
	b = append(b, body...)
	return binary.LittleEndian.AppendUint64(b, xxh3.Hash(b))
}

// DecodeSnapshot reads it back. Every defect is an error that says what is wrong; there is no partial state (G-014).
func DecodeSnapshot(b []byte) (*State, error) {
	if len(b) < snapshotHeader+snapshotTrail || string(b[:4]) != snapshotMagic {
		return nil, corrupt("this is no snapshot of the control plane")
	}
	if format := binary.LittleEndian.Uint16(b[4:]); format != SnapshotFormat {
		return nil, otherFormat(fmt.Sprintf("a snapshot of format %d; this version reads %d", format, SnapshotFormat))
	}
	if binary.LittleEndian.Uint64(b[8:]) != HardHash() {
		return nil, otherFormat("a snapshot that was written with other hard constants")
	}
	end := len(b) - snapshotTrail
	if binary.LittleEndian.Uint64(b[16:]) != uint64(end-snapshotHeader) || binary.LittleEndian.Uint16(b[6:]) != 0 {
		return nil, corrupt("the snapshot is cut short or too long")
	}
	if xxh3.Hash(b[:end]) != binary.LittleEndian.Uint64(b[end:]) {
		return nil, corrupt("the checksum of the snapshot is wrong")
	}
	w, err := wire.DecodeControlSnapshot(b[snapshotHeader:end])
	if err != nil {
		return nil, err
	}
	var r reader
	s := r.state(w)
	if r.err != nil {
		return nil, r.err
	}
	return s, nil
}

func packState(s *State) *wire.ControlSnapshot {
	w := &wire.ControlSnapshot{
		Cluster: s.Cluster, Revision: uint64(s.Revision), NowNs: s.Now.NS(), FenceMs: s.FenceMilli, SweptMinute: s.sweptMinute,
		Limits: packLimits(s.Limits),
	}
	for _, id := range s.NodeIDs() {
		n := s.Nodes[id]
		w.Nodes = append(w.Nodes, &wire.ControlStoredNode{
			Node: uint64(n.ID), Incarnation: uint64(n.Incarnation), Logical: n.Logical, Session: n.Session,
		})
	}
	for _, name := range s.DomainNames() {
		w.Domains = append(w.Domains, packDomain(s.Domains[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Users)) {
		w.Users = append(w.Users, packUser(s.Users[name]))
	}
	executions := slices.SortedFunc(s.executions.all, func(a, b *Execution) int { return compareReferences(a.Reference, b.Reference) })
	w.Executions = each(executions, packExecution)
	w.Transactions = each(s.Transactions(), packTransaction)
	return w
}

func packDomain(d *Domain) *wire.ControlStoredDomain {
	w := &wire.ControlStoredDomain{
		Name: string(d.Name), Text: d.Text, Grammar: d.Grammar, Pace: wire.ControlPace(d.Pace), Placement: wire.ControlPlacement(d.Placement),
		Status: wire.ControlStatus(d.Status), Generation: uint64(d.Generation), PositionEpoch: d.PositionEpoch, Model: uint64(d.Model),
		Created: uint64(d.Created), Committing: packReference(d.Committing), PeriodNs: d.Pacing.Period, SkewNs: d.Pacing.Skew,
		WallStartedAtNs: d.Mapping.WallStartedAt.NS(), LogicalStartNs: d.Mapping.LogicalStart.NS(), Rate: d.Mapping.Rate,
		Fence: d.Fence.Revision, AuthorityNode: uint64(d.Fence.Authority.Node), AuthorityIncarnation: uint64(d.Fence.Authority.Incarnation),
	}
	for _, k := range d.Keys() {
		def := d.Definitions[k]
		w.Definitions = append(w.Definitions, &wire.ControlStoredDefinition{
			Key: packKey(k), Text: def.Text, Grammar: def.Grammar, Dependencies: each(def.Dependencies, packKey),
			Created: uint64(def.Created), Changed: uint64(def.Changed),
		})
	}
	for _, k := range slices.SortedFunc(maps.Keys(d.Schedule), CompareKeys) {
		w.Schedule = append(w.Schedule, packAssignment(Assignment{k, d.Schedule[k]}))
	}
	for _, name := range slices.Sorted(maps.Keys(d.Resources)) {
		w.Resources = append(w.Resources, packResource(d.Resources[name]))
	}
	return w
}

func packExecution(e *Execution) *wire.ControlStoredExecution {
	return &wire.ControlStoredExecution{
		Reference: packReference(e.Reference), Owner: string(e.Owner), Domain: string(e.Domain), Digest: packDigest(e.Digest),
		Revision: uint64(e.Revision), Pending: e.Pending, Outcome: packOutcome(e.Outcome),
	}
}

func packTransaction(t *Transaction) *wire.ControlStoredTransaction {
	w := &wire.ControlStoredTransaction{
		Id: packReference(t.ID), Owner: string(t.Owner), Domain: string(t.Domain), DomainCreated: uint64(t.DomainCreated),
		State: wire.ControlTransactionState(t.State), Count: t.Count, SourceBytes: t.SourceBytes, Progress: t.Progress,
		Commit: packReference(t.Commit), FailedOperation: t.FailedOperation, BeganNs: t.Began.NS(), ActiveNs: t.Active.NS(),
		FinishedNs: t.Finished.NS(), Failure: packOutcome(t.Failure), Frozen: each(t.Frozen, packFrozen),
	}
	w.Statements = each(t.Statements, func(s Statement) *wire.ControlStoredStatement {
		return &wire.ControlStoredStatement{Text: s.Text, Grammar: s.Grammar}
	})
	return w
}

func (r *reader) state(w *wire.ControlSnapshot) *State {
	s := NewState()
	s.Cluster, s.Revision, s.Now = w.Cluster, ident.Revision(w.Revision), vtime.UTCFromNS(w.NowNs)
	s.FenceMilli, s.sweptMinute, s.Limits = w.FenceMs, w.SweptMinute, r.limits(w.Limits)
	for _, n := range w.Nodes {
		s.Nodes[ident.Node(n.Node)] = Node{ident.Node(n.Node), ident.Incarnation(n.Incarnation), n.Logical, n.Session}
	}
	for _, d := range w.Domains {
		s.Domains[ident.Name(d.Name)] = r.domain(d)
	}
	for _, u := range w.Users {
		s.Users[ident.Name(u.Name)] = r.user(u)
	}
	for _, e := range w.Executions {
		s.executions.load(r.given(e.Reference), r.execution(e))
	}
	for _, t := range w.Transactions {
		loaded := r.transaction(t)
		if !loaded.State.Finished() {
			s.openCount++
			s.openBytes += loaded.SourceBytes
		}
		s.transactions.load(loaded.ID, loaded)
	}
	return s
}

func (r *reader) domain(w *wire.ControlStoredDomain) *Domain {
	d := &Domain{
		Name: ident.Name(w.Name), Text: w.Text, Grammar: w.Grammar, Pace: Pace(w.Pace), Placement: Placement(w.Placement),
		Status: Status(w.Status), Generation: ident.Generation(w.Generation), PositionEpoch: w.PositionEpoch, Model: ident.Revision(w.Model),
		Created: ident.Revision(w.Created), Committing: r.reference(w.Committing),
		Definitions: make(map[Key]*Definition, len(w.Definitions)), Schedule: make(map[Key]ident.Node, len(w.Schedule)),
		Resources: make(map[ident.Name]*Resource, len(w.Resources)), Pacing: clock.Pace{Period: w.PeriodNs, Skew: w.SkewNs},
		Mapping: r.mapping(w.WallStartedAtNs, w.LogicalStartNs, w.Rate),
		Fence:   clock.Fence{Revision: w.Fence, Authority: authority(w.AuthorityNode, w.AuthorityIncarnation)},
	}
	if d.Status == Running && d.Pace == Paced && d.Mapping.Rate == 0 {
		r.fail("the paced domain %s runs without a mapping", w.Name)
	}
	for _, def := range w.Definitions {
		k := r.key(def.Key)
		d.Definitions[k] = &Definition{
			Key: k, Text: def.Text, Grammar: def.Grammar, Dependencies: r.keys(def.Dependencies),
			Created: ident.Revision(def.Created), Changed: ident.Revision(def.Changed),
		}
	}
	for _, a := range w.Schedule {
		one := r.assignment(a)
		if _, defined := d.Definitions[one.Key]; !defined {
			r.fail("the schedule of domain %s places an object that is not defined", w.Name)
		}
		d.Schedule[one.Key] = one.Node
	}
	r.resources(d, w.Resources)
	return d
}

func (r *reader) execution(w *wire.ControlStoredExecution) *Execution {
	return &Execution{
		Reference: r.given(w.Reference), Owner: ident.Name(w.Owner), Domain: ident.Name(w.Domain), Digest: r.digest(w.Digest),
		Revision: ident.Revision(w.Revision), Pending: w.Pending, Outcome: r.outcome(w.Outcome),
	}
}

func (r *reader) transaction(w *wire.ControlStoredTransaction) *Transaction {
	t := &Transaction{
		ID: r.given(w.Id), Owner: ident.Name(w.Owner), Domain: ident.Name(w.Domain), DomainCreated: ident.Revision(w.DomainCreated),
		State: TransactionState(w.State), Count: w.Count, SourceBytes: w.SourceBytes, Progress: w.Progress, Commit: r.reference(w.Commit),
		FailedOperation: w.FailedOperation, Failure: r.outcome(w.Failure), Began: vtime.UTCFromNS(w.BeganNs), Active: vtime.UTCFromNS(w.ActiveNs),
		Finished: vtime.UTCFromNS(w.FinishedNs), Frozen: each(w.Frozen, r.frozen),
	}
	t.Statements = each(w.Statements, func(s *wire.ControlStoredStatement) Statement { return Statement{s.Text, s.Grammar} })
	if !t.State.Finished() && int(t.Count) != len(t.Statements) || t.Progress > t.Count {
		r.fail("transaction %s has %d statements and counts %d", t.ID, len(t.Statements), t.Count)
	}
	return t
}
