// SPDX-License-Identifier: Apache-2.0

package wire

import "github.com/nervix-go/nervix/host/kernel/fault"

// ClientFrame is what a client sends. RequestID is zero for Hello and Keepalive and non-zero for everything else.
type ClientFrame struct {
	RequestID uint64
	Body      ClientBody
}

// ClientBody is one of Hello, CommandRequest, ListDomainsRequest, StatusRequest, CancelRequest, Keepalive, AttachDomainClockRequest and
// DetachDomainClockRequest.
type ClientBody interface{ clientBody() }

// ServerFrame is what a server sends. RequestID is that of the request it answers, or zero for HelloReply, SessionEnding, Keepalive and the
// frames about an attached clock.
type ServerFrame struct {
	RequestID uint64
	Body      ServerBody
}

// ServerBody is one of HelloReply, CommandOutcome, DomainList, StatusReport, CancelOutcome, RequestRejected, RequestCancelled,
// SessionEnding, Keepalive, DomainClockAttachOutcome, DomainClockDetachOutcome, DomainClockObserved, DomainClockTicked and
// DomainClockAttachmentEnded.
type ServerBody interface{ serverBody() }

// Hello opens a session. It is the first frame of the ordered lane.
type Hello struct {
	ProtocolMin, ProtocolMax uint32
	User, Password           string
	// Domain is used by requests that name none.
	Domain string
	// Client names the program for logs.
	Client string
}

// Format is the wanted form of inspections.
type Format uint8

// The formats. FormatJSON asks for Data in outcomes.
const (
	FormatText Format = 1
	FormatJSON Format = 2
)

// CommandRequest carries one command. Reference, domain and text stay the same over every repetition.
type CommandRequest struct {
	Reference string
	Domain    string
	Text      string
	Format    Format
}

// ListDomainsRequest asks for the domains of the cluster.
type ListDomainsRequest struct{}

// StatusRequest asks for the state of the node.
type StatusRequest struct{}

// CancelRequest asks that a request in flight be given up.
type CancelRequest struct{ Target uint64 }

// Keepalive says that the sender lives.
type Keepalive struct{}

// HelloReply accepts a session. Features are ascending and each is there once.
type HelloReply struct {
	Node                     string
	Incarnation              uint64
	ProtocolMin, ProtocolMax uint32
	Protocol                 uint32
	Features                 []string
	FrameLimit               uint32
}

// Disposition is the fate of a command.
type Disposition uint8

// The dispositions. DispositionUnknown means that the effect may come yet: repeat under the same reference.
const (
	DispositionCompleted Disposition = 1
	DispositionFailed    Disposition = 2
	DispositionUnknown   Disposition = 3
)

func (d Disposition) String() string {
	return word(int(d), "", "completed", "failed", "unknown")
}

// UnknownCause says why the result of a command is not known.
type UnknownCause uint8

// The causes.
const (
	CauseNone                UnknownCause = 0
	CauseLeadershipLost      UnknownCause = 1
	CauseStillApplying       UnknownCause = 2
	CauseNotYetAuthoritative UnknownCause = 3
	CauseShuttingDown        UnknownCause = 4
)

func (c UnknownCause) String() string {
	return word(int(c), "", "leadership lost", "still applying", "not yet authoritative", "shutting down")
}

// TransactionState is where a transaction stands.
type TransactionState uint8

// The transaction states.
const (
	TransactionNone       TransactionState = 0
	TransactionOpen       TransactionState = 1
	TransactionCommitting TransactionState = 2
	TransactionCommitted  TransactionState = 3
	TransactionFailed     TransactionState = 4
	TransactionReverted   TransactionState = 5
	TransactionExpired    TransactionState = 6
)

func (s TransactionState) String() string {
	return word(int(s), "", "open", "committing", "committed", "failed", "reverted", "expired")
}

// Transaction is the transaction a session is in after a command.
type Transaction struct {
	State     TransactionState
	Reference string
}

// StatementResult is the part of an outcome that belongs to one statement of a batch or transaction.
type StatementResult struct {
	Index          uint32
	Disposition    Disposition
	Text           string
	AlreadyExisted bool
	// Data is JSON, or empty for none.
	Data string
}

// Fate is what became of an operation of a transaction whose COMMIT was admitted.
type Fate uint8

// The fates. FateFailed is the one operation that ended the transaction; FateNotApplied is every other one without effect.
const (
	FateApplied    Fate = 1
	FateFailed     Fate = 2
	FateNotApplied Fate = 3
)

func (f Fate) String() string {
	return word(int(f), "", "applied", "failed", "not_applied")
}

// OperationResult is what became of one operation of a transaction. Its diagnostics have no place: it was sent in an earlier request.
type OperationResult struct {
	// Number counts the queued statements of the transaction from 1.
	Number      uint32
	Fate        Fate
	Text        string
	Diagnostics fault.Diagnostics
}

// CommitReport is what a COMMIT that was admitted came to (nspl 2.5 rule 5: a failed one keeps its prefix).
type CommitReport struct {
	// Applied is how many operations stay applied: those with the numbers 1 to Applied.
	Applied uint32
	// Failed is the number of the operation that failed, or zero when all were applied.
	Failed uint32
	// Operations has one entry an operation, in order.
	Operations []OperationResult
}

// CommandOutcome is the terminal reply to a command.
type CommandOutcome struct {
	Disposition    Disposition
	Reference      string
	AlreadyExisted bool
	// Recovered says that the outcome of an earlier attempt under this reference is told again.
	Recovered bool
	Text      string
	// Data is JSON, or empty for none.
	Data         string
	Statements   []StatementResult
	Diagnostics  fault.Diagnostics
	Domain       string
	Transaction  Transaction
	UnknownCause UnknownCause
	// Commit is there in the outcome of a COMMIT that was admitted and settled.
	Commit *CommitReport
}

// DomainPace says whether a domain has a paced clock.
type DomainPace uint8

// The paces. PaceUnknown is what a server of protocol 1 says.
const (
	PaceUnknown DomainPace = 0
	PaceUnpaced DomainPace = 1
	PacePaced   DomainPace = 2
)

func (p DomainPace) String() string { return word(int(p), "", "unpaced", "paced") }

// DomainEntry is one domain of a DomainList. PeriodNS and SkewNS are zero unless it is paced; StartVersion is its lifecycle generation.
// Everything after Status belongs to protocol 2.
type DomainEntry struct {
	Name, Status     string
	Pace             DomainPace
	PeriodNS, SkewNS uint64
	StartVersion     uint64
}

// DomainList answers ListDomainsRequest.
type DomainList struct{ Domains []DomainEntry }

// ConnectorStatus is one connector process of a node.
type ConnectorStatus struct {
	Kind     string
	PID      uint64
	State    string
	Restarts uint64
}

// StatusReport answers StatusRequest.
type StatusReport struct {
	Node        string
	Incarnation uint64
	Revision    uint64
	Role        string
	Connectors  []ConnectorStatus
}

// CancelResult is the answer to a cancellation.
type CancelResult uint8

// CancelRequested: the target was in flight and still gets its own terminal reply. CancelNotInFlight: there was nothing to cancel.
const (
	CancelRequested   CancelResult = 1
	CancelNotInFlight CancelResult = 2
)

// CancelOutcome answers CancelRequest.
type CancelOutcome struct{ Result CancelResult }

// RejectKind says why a request was not taken.
type RejectKind uint8

// The kinds of rejection.
const (
	RejectInvalid            RejectKind = 1
	RejectUnsupportedRequest RejectKind = 2
	RejectUnsupportedValue   RejectKind = 3
	RejectDuplicateID        RejectKind = 4
	RejectTooManyInFlight    RejectKind = 5
	RejectReplyTooLarge      RejectKind = 6
	RejectServerBusy         RejectKind = 7
)

func (k RejectKind) String() string {
	return word(int(k), "", "invalid", "unsupported request", "unsupported value", "duplicate id", "too many in flight",
		"reply too large", "server busy")
}

// RequestRejected ends a request of which nothing was admitted, except that RejectReplyTooLarge tells nothing about the effect of a
// command. Field names the member that is wrong, if it is one.
type RequestRejected struct {
	Kind  RejectKind
	Field string
	Text  string
}

// RequestCancelled ends a request that was cancelled before admission: it has no effect, now or later.
type RequestCancelled struct{}

// EndingReason says why a session ends.
type EndingReason uint8

// The reasons. The same number is the application error code of the QUIC connection's end.
const (
	EndingShuttingDown           EndingReason = 1
	EndingRedirect               EndingReason = 2
	EndingProtocolViolated       EndingReason = 3
	EndingFrameTooLarge          EndingReason = 4
	EndingInvalidFrame           EndingReason = 5
	EndingUnauthenticated        EndingReason = 6
	EndingCredentialsUnavailable EndingReason = 7
	EndingProtocolVersion        EndingReason = 8
	EndingTooManySessions        EndingReason = 9
)

func (r EndingReason) String() string {
	return word(int(r), "", "shutting down", "redirect", "protocol violated", "frame too large", "invalid frame", "unauthenticated",
		"credentials unavailable", "protocol version", "too many sessions")
}

// SessionEnding is the last frame of a session.
type SessionEnding struct {
	Reason EndingReason
	Text   string
	// TimeLeftMillis is how long a stopping node still works; zero if it ends now.
	TimeLeftMillis uint64
}

func (Hello) clientBody()              {}
func (CommandRequest) clientBody()     {}
func (ListDomainsRequest) clientBody() {}
func (StatusRequest) clientBody()      {}
func (CancelRequest) clientBody()      {}
func (Keepalive) clientBody()          {}

func (HelloReply) serverBody()       {}
func (CommandOutcome) serverBody()   {}
func (DomainList) serverBody()       {}
func (StatusReport) serverBody()     {}
func (CancelOutcome) serverBody()    {}
func (RequestRejected) serverBody()  {}
func (RequestCancelled) serverBody() {}
func (SessionEnding) serverBody()    {}
func (Keepalive) serverBody()        {}

// word picks the text of an enumeration value.
func word(i int, words ...string) string {
	if i < len(words) {
		return words[i]
	}
	return "?"
}
