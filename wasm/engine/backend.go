// SPDX-License-Identifier: Apache-2.0

package engine

// Backend compiles and runs modules of one profile. Engine gives it only modules that Inspect has accepted and calls it as documented
// below; everything that both implementations have in common lives in Engine.
type Backend interface {
	// Version names the library and its version; part of the cache key.
	Version() string
	// Compile turns a module into code. It may take seconds.
	Compile(wasm []byte) (Code, error)
	// Load takes back what Code.Serialize gave. An error means that the bytes fit another version or configuration. The bytes are
	// native code: the caller vouches for them.
	Load(code []byte) (Code, error)
	// Tick advances the epoch. Safe from any goroutine until Close.
	Tick(epochs uint64)
	// Usage reports what all stores together hold now.
	Usage() Usage
	// Close frees the backend; all code and stores are closed before.
	Close()
}

// Code is one compiled module. Instantiate and Serialize are safe from any goroutine.
type Code interface {
	Serialize() ([]byte, error)
	// Instantiate makes a store. On failure the store is nil and res says why.
	Instantiate(req *Request, res *Result) Store
	Close()
}

// Store is one instance of a module. One caller at a time.
type Store interface {
	// Run performs one request. Ranges and slices in res die with the next Run or Close.
	Run(req *Request, res *Result)
	Close()
}

// Status says how a request ended. The order is known to the C shim.
type Status uint8

// The outcomes.
const (
	StatusOK            Status = iota
	StatusTrap                 // the guest trapped; Result.Trap has the library's code or -1
	StatusFuel                 // out of fuel
	StatusEpoch                // past the epoch deadline
	StatusMemoryCeiling        // linear memory above Request.Ceiling was asked for
	StatusMemoryBudget         // the node's budget of linear memory or maps is used up
	StatusMemoryOS             // the operating system refused memory
	StatusNoBuffer             // nervix_alloc answered 0
	StatusRange                // the guest named a range outside its memory
	StatusTooLarge             // the guest announced more than Request.MaxBuffer
	StatusFault                // the library failed otherwise
)

// What an operation may ask the host for; also known to the C shim.
const (
	AllowTimeout uint8 = 1 << iota
	AllowReset
)

// Request is one crossing into the guest: begin the operation if asked to, get a buffer if asked to, copy a payload if there is one,
// call Entry, and after it what the ABI wants read (global error, first emit, buffer pointer).
type Request struct {
	Begin      bool
	Fuel       uint64 // refill, with Begin
	Ticks      uint64 // epochs until the deadline, with Begin
	Now        int64  // domain time, with Begin
	NextHandle int64  // handle of the next timeout, with Begin
	Allow      uint8  // with Begin
	Ceiling    uint64 // bytes of linear memory; Instantiate only

	Ask       bool   // call nervix_alloc(Size)
	Size      uint32 // bytes asked for
	Payload   []byte // copied to the granted buffer; len is Size
	Entry     Export // NoExport: none
	A, B      int64  // arguments of Entry; with Payload the granted range instead
	MaxBuffer uint32 // largest range accepted from the guest
}

// Result is what a request brought.
type Result struct {
	Status  Status
	Trap    int    // the library's trap code, -1 if none
	At      Export // the export that failed or answered last
	Code    int64  // answer of Entry, or of the emit read after it
	Emitted bool   // Code is the answer of nervix_read_emit
	Message string // the library's text for a failure

	Grant, Output       []byte // guest memory
	GrantPtr, OutputPtr uint32
	LiedPtr, LiedLen    int64 // with StatusRange and StatusTooLarge

	Reason    []byte // bytes of the global-error channel, at most 4,096; dies with the next Run
	ReasonCut bool

	Reset      bool
	NextHandle int64
	Timeouts   []Timeout
	FuelLeft   uint64
	Memory     uint64 // bytes of linear memory
	Wanted     uint64 // bytes the refused growth would have led to
}

// Timeout is one accepted nervix_timeout_after_nanos. Delay is domain time from the operation's snapshot, as the guest gave it.
type Timeout struct{ Handle, Delay int64 }

// Usage is what the stores of an engine hold. The reference backend knows no maps.
type Usage struct {
	Stores      int
	LinearBytes uint64
	Maps        uint64
}
