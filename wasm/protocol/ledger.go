// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sort"

	"github.com/nervix-go/nervix/host/kernel/fault"
)

// Ledger knows the tokens of one guest instance: which were issued, and which were decided (W8). Tokens count up over the inputs of the
// instance, so a batch is a range of them. It dies with the instance; the ledger of the next instance of the branch begins behind it
// (Next), so that a token a guest kept in its state is unknown there (W-102).
type Ledger struct {
	next    uint64
	batches []held // ascending, none without live tokens
	live    int
	last    int   // the batch of the last token that was found
	touched []int // the batches of which the running callback noted something
}

// held is one input batch with live tokens. As long as all rows have one fate, which is nearly always, there is no list of them: fates is nil, and
// same is the fate of all.
type held struct {
	first   uint64
	rows    int
	same    Fate
	fates   []Fate
	live    int
	touched bool
}

func (b *held) fate(row int) Fate {
	if b.fates == nil {
		return b.same
	}
	return b.fates[row]
}

// list gives the rows fates of their own.
func (b *held) list() []Fate {
	if b.fates == nil {
		b.fates = make([]Fate, b.rows)
		if b.same != FateLive {
			for i := range b.fates {
				b.fates[i] = b.same
			}
		}
	}
	return b.fates
}

// Fate is what a callback made of one input: the number of output rows that carry it, or one of the decisions.
type Fate uint32

// The fates beside a number of carrying rows. FateLive inputs are kept by the guest; FatePast ones were decided by an earlier callback.
const (
	FateLive   Fate = 0
	FateAcked  Fate = 0xFFFF_FFFC
	FateNacked Fate = 0xFFFF_FFFD
	FateFailed Fate = 0xFFFF_FFFE
	FatePast   Fate = 0xFFFF_FFFF
)

// Carried is the number of output rows that carry the input, over all outputs of the callback; zero for the other fates.
func (f Fate) Carried() int {
	if f < FateAcked {
		return int(f)
	}
	return 0
}

// NewLedger begins at a token. The first ledger of a branch on a node begins at a random number below 2^62, so that tokens of another
// owner are unknown too.
func NewLedger(next uint64) *Ledger { return &Ledger{next: max(next, 1)} }

// Next is the first token that was never issued.
func (l *Ledger) Next() uint64 { return l.next }

// Live is the number of inputs that wait for a decision.
func (l *Ledger) Live() int { return l.live }

// Issue gives fresh tokens to the rows of an input batch: row i has token first+i (W-086). first names the batch from then on.
func (l *Ledger) Issue(rows int) (first uint64) {
	first = l.next
	l.next += uint64(rows)
	if rows > 0 {
		l.batches = append(l.batches, held{first: first, rows: rows, live: rows})
		l.live += rows
	}
	return first
}

// Batches visits what is held: the batch, and the fate of each of its rows after Check and before Settle. The slice must not be changed or
// kept.
func (l *Ledger) Batches(visit func(first uint64, fates []Fate)) {
	for i := range l.batches {
		visit(l.batches[i].first, l.batches[i].list())
	}
}

// Touched is Batches for those batches only of which the last Check noted something, in no order. fates is nil where the rows of a batch are carried by
// one output each, all of them: the way of a guest that keeps nothing.
func (l *Ledger) Touched(visit func(first uint64, fates []Fate)) {
	for _, i := range l.touched {
		visit(l.batches[i].first, l.batches[i].fates)
	}
}

// Locate finds the input of a token that Check has passed, until Settle: the rows of an output that is not plain, and the sets of decisions.
func (l *Ledger) Locate(token uint64) (Place, bool) {
	b, row, err := l.find(token)
	if err != nil {
		return Place{}, false
	}
	return Place{Batch: b.first, Row: uint32(row)}, true
}

// Settle ends the inputs that the last Check decided. gone is told each batch of which no input is left, so that its columns can be
// released; it may be nil. The cost is that of the batches the callback touched: what a guest buffers beside them is not walked.
func (l *Ledger) Settle(gone func(first uint64)) {
	empty := false
	l.untouch(func(b *held) {
		if b.fates == nil { // touched, so all were carried
			l.live -= b.live
			b.live = 0
		}
		for i, f := range b.fates {
			if f != FateLive && f != FatePast {
				b.fates[i] = FatePast
				b.live--
				l.live--
			}
		}
		empty = empty || b.live == 0
	})
	if !empty {
		return
	}
	kept := l.batches[:0]
	for _, b := range l.batches {
		if b.live > 0 {
			kept = append(kept, b)
		} else if gone != nil {
			gone(b.first)
		}
	}
	clear(l.batches[len(kept):])
	l.batches, l.last = kept, 0
}

// Forget undoes what the last Check noted: the callback's output is not used, and its inputs are live as before.
func (l *Ledger) Forget() {
	l.untouch(func(b *held) {
		b.same = FateLive
		for row, f := range b.fates {
			if f != FatePast {
				b.fates[row] = FateLive
			}
		}
	})
}

func (l *Ledger) untouch(each func(*held)) {
	for _, i := range l.touched {
		b := &l.batches[i]
		b.touched = false
		each(b)
	}
	l.touched = l.touched[:0]
}

// touch is called with the batch that find gave last.
func (l *Ledger) touch(b *held) {
	if !b.touched {
		b.touched = true
		l.touched = append(l.touched, l.last)
	}
}

func badToken(format string, args ...any) error {
	return refuse(fault.WasmToken, "Check", fmt.Sprintf(format, args...), nil)
}

// find gives the batch and row of a token that was issued and not decided by an earlier callback.
func (l *Ledger) find(token uint64) (batch *held, row int, err error) {
	if l.last < len(l.batches) {
		b := &l.batches[l.last]
		if at := token - b.first; at < uint64(b.rows) && b.fate(int(at)) != FatePast {
			return b, int(at), nil
		}
	}
	i := sort.Search(len(l.batches), func(i int) bool { return l.batches[i].first > token }) - 1
	if i >= 0 {
		b := &l.batches[i]
		if at := token - b.first; at < uint64(b.rows) && b.fate(int(at)) != FatePast {
			l.last = i
			return b, int(at), nil
		}
	}
	return nil, 0, badToken("wasm output referenced unknown ack token %d", token)
}

// carry notes that an output row carries a token.
func (l *Ledger) carry(token uint64) (*held, int, error) {
	b, row, err := l.find(token)
	if err != nil {
		return nil, 0, err
	}
	if b.list()[row] >= FateAcked-1 { // decisions are noted after all rows, so this is a count that would overflow
		return nil, 0, badToken("ack token %d is carried by too many output rows", token)
	}
	l.touch(b)
	b.fates[row]++
	return b, row, nil
}

// decide notes a terminal decision (W-104, W-107).
func (l *Ledger) decide(set Tokens, fate Fate) error {
	for i := range set.Len() {
		token := set.At(i)
		b, row, err := l.find(token)
		switch {
		case err != nil:
			return err
		case b.fate(row) >= FateAcked:
			return badToken("ack token %d is decided more than once", token)
		case b.fate(row) != FateLive:
			return badToken("ack token %d is carried by an output row and also decided", token)
		}
		l.touch(b)
		b.list()[row] = fate
	}
	return nil
}

// Check judges the tokens of all outputs of one callback together and notes the fate of each input (W-103 to W-109, W-306). What an earlier
// Check noted and Settle did not end is forgotten first. The result has one selection for each output of each group, in their order, lent until
// the first of the groups is checked again or released. After an error nothing is noted. Fault: wasm.token.
func (l *Ledger) Check(groups []*Group) ([][]Selection, error) {
	l.Forget()
	selections, err := l.check(groups)
	if err != nil {
		l.Forget()
		return nil, err
	}
	return selections, nil
}

func (l *Ledger) check(groups []*Group) ([][]Selection, error) {
	if len(groups) == 0 {
		return nil, nil
	}
	out := slices.Grow(groups[0].list[:0], len(groups))
	for _, g := range groups {
		g.selections = slices.Grow(g.selections[:0], len(g.Outputs))
		for k := range g.Outputs {
			s, err := l.rows(&g.Outputs[k].Acks, g.UsesInput)
			if err != nil {
				return nil, err
			}
			g.selections = append(g.selections, s)
		}
		out = append(out, g.selections)
	}
	groups[0].list = out
	for _, g := range groups {
		for k := range g.Outputs {
			if err := l.decisions(&g.Outputs[k].Acks); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func (l *Ledger) decisions(s *Sidecar) error {
	for i := range s.Acked() {
		if err := l.decide(s.AckedSet(i), FateAcked); err != nil {
			return err
		}
	}
	for i := range s.Nacked() {
		set, _ := s.NackedSet(i)
		if err := l.decide(set, FateNacked); err != nil {
			return err
		}
	}
	for i := range s.Failed() {
		set, _ := s.FailedSet(i)
		if err := l.decide(set, FateFailed); err != nil {
			return err
		}
	}
	return nil
}

// nextRows passes over rows, from row i on, that stand for one input each and take the inputs of one batch one after another: the way of a
// guest that keeps the order. It stops before the first other row and tells how many it passed.
func (l *Ledger) nextRows(s *Sidecar, p *picker, i int) (passed int) {
	if p.class != SelectSlice || p.holes || !s.uniform || s.sourceAt == 0 {
		return 0
	}
	fates := p.batch.list()[p.next:]
	token := p.batch.first + uint64(p.next)
	for n := min(s.rows.n-i, len(fates)); passed < n; passed++ {
		at := s.rows.at + 4*(i+passed)
		pos := deref(s.b, at)
		list := deref(s.b, pos+int(s.tokensAt))
		if binary.LittleEndian.Uint64(s.b[pos+int(s.sourceAt):]) != token || binary.LittleEndian.Uint32(s.b[list:]) != 1 ||
			binary.LittleEndian.Uint64(s.b[list+4:]) != token || fates[passed] >= FateAcked-1 {
			break
		}
		fates[passed]++
		token++
	}
	p.next += passed
	return passed
}

// rows judges the rows of one output and finds what they select.
func (l *Ledger) rows(s *Sidecar, needSource bool) (Selection, error) {
	if all, ok := l.whole(s); ok {
		return all, nil
	}
	n := s.Rows()
	pick := picker{n: n, plain: true}
	for i := 0; i < n; i++ {
		if i += l.nextRows(s, &pick, i); i == n {
			break
		}
		row := s.Row(i)
		count := row.Tokens.Len()
		if count == 1 && row.HasSource && row.Tokens.At(0) == row.Source { // the row stands for one input: nearly all rows
			b, at, err := l.carry(row.Source)
			if err != nil {
				return Selection{}, err
			}
			pick.add(i, b, at)
			continue
		}
		pick.plain = false
		named := false
		for k := range count {
			token := row.Tokens.At(k)
			named = named || token == row.Source
			if _, _, err := l.carry(token); err != nil {
				return Selection{}, err
			}
		}
		switch {
		case !row.HasSource && needSource:
			return Selection{}, badToken("missing source token for output row %d", i)
		case !row.HasSource:
			pick.skip()
		case !named:
			if _, _, err := l.find(row.Source); err != nil {
				return Selection{}, err
			}
			return Selection{}, badToken("missing source token for output row %d: its source token %d is not among its tokens", i, row.Source)
		default:
			b, at, _ := l.find(row.Source)
			pick.add(i, b, at)
		}
	}
	return pick.done(), nil
}
