// SPDX-License-Identifier: Apache-2.0

package verify

// Limits bound one frame. The budgets for tables and apparent size scale with the frame (session limits: n/4 tables, 8n bytes).
type Limits struct {
	// MaxBytes is the greatest frame.
	MaxBytes int
	// MaxDepth is the deepest nesting of tables.
	MaxDepth int
	// MaxEntries is the longest vector.
	MaxEntries int
	// Additive allows members and trailing bytes that the schema does not know. It is for stored data read by an older program and for
	// a negotiated minor version; sessions keep it off.
	Additive bool
}

// DefaultLimits are those of a client session: 4 MiB, 64 levels, 262,144 entries (X, limits table).
func DefaultLimits() Limits {
	return Limits{MaxBytes: 4 << 20, MaxDepth: 64, MaxEntries: 262_144}
}

// The memory a frame of n bytes may make its decoder allocate is decodedBase + decodedFactor*n by the costs of the schema table. It lies
// below 64 KiB + 16n, which leaves room for what an allocator rounds up.
const (
	decodedBase   = 48 << 10
	decodedFactor = 12
)

// budget is what is left for one frame.
type budget struct {
	tables   int
	apparent int
	decoded  int
}

func newBudget(n int) budget {
	return budget{tables: max(1, n/4), apparent: 8 * n, decoded: decodedBase + decodedFactor*n}
}

// table takes one table with its inline bytes.
func (b *budget) table(inline, cost int) Rule {
	b.tables--
	if b.tables < 0 {
		return RuleTables
	}
	return b.bytes(inline, cost)
}

// bytes takes apparent bytes and the memory of their decoded form.
func (b *budget) bytes(apparent, decoded int) Rule {
	b.apparent -= apparent
	b.decoded -= decoded
	if b.apparent < 0 || b.decoded < 0 {
		return RuleSize
	}
	return ""
}
