// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"time"
)

const pageBytes = 64 << 10

// Profile is how linear memory is laid out. A module is compiled for one profile.
type Profile uint8

// ProfileGuard reserves 4 GiB of addresses per memory and needs no bounds checks: the fastest code, two memory maps a store, so for some
// thousand stores. ProfileDense packs memories into shared maps and checks every access: for up to 100,000 stores. ProfileAuto picks by
// the store limit.
const (
	ProfileAuto Profile = iota
	ProfileGuard
	ProfileDense
)

// guardStores is the largest store limit for which auto picks guard: a quarter of what the default vm.max_map_count carries.
const guardStores = 8000

func (p Profile) String() string {
	return [...]string{"auto", "guard", "dense"}[p%3]
}

// ParseProfile reads `auto`, `guard` or `dense`.
func ParseProfile(text string) (Profile, error) {
	for p := ProfileAuto; p <= ProfileDense; p++ {
		if p.String() == text {
			return p, nil
		}
	}
	return 0, fmt.Errorf("guest profile %q is not one of auto, guard, dense", text)
}

// Resolve gives guard or dense.
func (p Profile) Resolve(stores int) Profile {
	switch {
	case p != ProfileAuto:
		return p
	case stores <= guardStores:
		return ProfileGuard
	default:
		return ProfileDense
	}
}

// Limits bound what guests cost the node. The zero value of a field means its default. Fixed for the life of an Engine.
type Limits struct {
	// ModuleBytes is the largest module file. Default 32 MiB.
	ModuleBytes int
	// FunctionBytes is the largest body of one function: compile time grows faster than its size. Default 1 MiB.
	FunctionBytes int
	// Stores is the largest number of live instances. Default 8,000.
	Stores int
	// LinearBytes is the largest sum of linear memory over all stores. Default 16 GiB.
	LinearBytes uint64
	// Maps is the largest number of memory maps for guests. Default: MapBudget.
	Maps uint64
	// MaxBuffer is the largest guest buffer that is written or read (W-044). Default and maximum 64 MiB.
	MaxBuffer uint32
	// OperationTime is the longest a logical operation may run. Fuel does not bound time: memory.fill of a gigabyte costs five units.
	// Rounded up to EpochPeriod. Default 10 s.
	OperationTime time.Duration
	// CompileTime is the longest a compilation in another process may take. Default 60 s.
	CompileTime time.Duration
	// EpochPeriod is how often a running guest looks at the clock. Default 10 ms.
	EpochPeriod time.Duration
	// StackBytes is the guest's native stack. Default 512 KiB.
	StackBytes uint64
}

const maxBuffer = 64 << 20

// EnsureDefaults fills the zero fields.
func (l *Limits) EnsureDefaults() {
	setDefault(&l.ModuleBytes, 32<<20)
	setDefault(&l.FunctionBytes, 1<<20)
	setDefault(&l.Stores, guardStores)
	setDefault(&l.LinearBytes, 16<<30)
	if l.Maps == 0 {
		l.Maps = MapBudget()
	}
	setDefault(&l.MaxBuffer, maxBuffer)
	setDefault(&l.OperationTime, 10*time.Second)
	setDefault(&l.CompileTime, time.Minute)
	setDefault(&l.EpochPeriod, 10*time.Millisecond)
	setDefault(&l.StackBytes, 512<<10)
}

func setDefault[T comparable](at *T, value T) {
	var zero T
	if *at == zero {
		*at = value
	}
}

// Validate reports the first limit that cannot hold.
func (l *Limits) Validate() error {
	switch {
	case l.ModuleBytes < 0 || l.FunctionBytes < 0 || l.Stores < 0:
		return fmt.Errorf("a guest limit is negative")
	case l.MaxBuffer > maxBuffer:
		return fmt.Errorf("guest buffers of %d bytes are above the maximum of %d", l.MaxBuffer, maxBuffer)
	case l.EpochPeriod < time.Millisecond || l.OperationTime < l.EpochPeriod:
		return fmt.Errorf("the epoch period %s must be at least 1ms and at most the operation time %s", l.EpochPeriod, l.OperationTime)
	case l.StackBytes < 64<<10 || l.StackBytes > 2<<20:
		return fmt.Errorf("a guest stack of %d bytes is outside 64 KiB to 2 MiB", l.StackBytes)
	}
	return nil
}

// ticks is the epoch deadline of an operation: one more than the time, because the first tick may come at once.
func (l *Limits) ticks() uint64 {
	return uint64((l.OperationTime+l.EpochPeriod-1)/l.EpochPeriod) + 1
}

// Spec is what a processor declares for each of its stores.
type Spec struct {
	Fuel   uint64 // MAX FUEL: of each logical operation, and of instantiation
	Memory uint64 // MAX MEMORY in bytes
	// FirstHandle is the handle of the instance's first timeout: one more than the last of the branch's previous instance (W-234).
	FirstHandle int64
}
