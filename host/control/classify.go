// SPDX-License-Identifier: Apache-2.0

package control

import (
	"fmt"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/parse"
)

// class groups statements by the table of nspl 2.2.
type class uint8

const (
	classOther     class = iota
	classModel           // CREATE, ALTER, DROP of a model: queueable, part of a run
	classResource        // CREATE RESOURCE: queueable, a step of its own
	classLifecycle       // START, STOP: queueable, a step of its own
	classCluster         // CREATE/DROP DOMAIN, users: never in a transaction
	classBegin
	classEnd     // COMMIT, REVERT
	classSession // USE, LIST DOMAINS: alone, without a reference
	classRead    // SHOW, DESCRIBE: without a reference
	classClock   // ATTACH, DETACH DOMAIN CLOCK: requests of the session, never executed here
	classClient  // UPLOAD: executed by the client, never here
)

func classify(s ast.Statement) class {
	switch one := s.(type) {
	case *ast.CreateDomain, *ast.CreateUser, *ast.AlterUser:
		return classCluster
	case *ast.CreateResource:
		return classResource
	case ast.Definition, *ast.AlterRelay:
		return classModel
	case *ast.Drop:
		if one.Kind == ident.KindDomain || one.Kind == ident.KindUser {
			return classCluster
		}
		return classModel
	case *ast.Start, *ast.Stop:
		return classLifecycle
	case *ast.Begin:
		return classBegin
	case *ast.Commit, *ast.Revert:
		return classEnd
	case *ast.Use, *ast.ListDomains:
		return classSession
	case *ast.ShowCreate, *ast.ShowIngestors, *ast.ShowClusterStatus, *ast.Describe:
		return classRead
	case *ast.AttachDomainClock, *ast.DetachDomainClock:
		return classClock
	case *ast.Upload:
		return classClient
	default:
		return classOther
	}
}

func (c class) queueable() bool { return c == classModel || c == classResource || c == classLifecycle }

// checked says whether the statement changes definitions, so that the Checker judges it.
func (c class) checked() bool { return c == classModel || c == classResource }

// elsewhere says whether somebody else executes the statement; nspl 2.2 then wants it alone, and outside transactions.
func (c class) elsewhere() bool { return c == classClock || c == classClient }

// persistent says whether the statement runs under an execution reference.
func (c class) persistent() bool { return c >= classModel && c <= classEnd }

// judge applies the request rules before anything is done: the number of statements, and what may stand beside what. bound says that the
// session has an open transaction.
func judge(list []parse.Parsed, bound bool) fault.Diagnostics {
	if len(list) == 0 {
		return fault.Diagnostics{complaint(fault.StageAdmit, fault.RequestEmpty, "the request holds no statement")}
	}
	if len(list) == 1 {
		return judgeOne(list[0], bound)
	}
	first := classify(list[0].Stmt)
	if !bound && first != classBegin {
		for i, p := range list {
			if k := classify(p.Stmt); k == classSession || k.elsewhere() {
				return fault.Diagnostics{alone(i, p)}
			}
		}
		return fault.Diagnostics{complaintAt(fault.StageAdmit, fault.RequestSeveral, list[1].Span,
			fmt.Sprintf("the request holds %d statements and does not begin a transaction; nothing was applied", len(list)))}
	}
	for i, p := range list {
		k := classify(p.Stmt)
		switch {
		case k == classBegin && (i > 0 || bound):
			return fault.Diagnostics{complaintAt(fault.StageAdmit, fault.TransactionActive, p.Span, fmt.Sprintf("statement %d: a transaction is open already", i+1))}
		case k == classBegin:
		case k == classEnd && i < len(list)-1:
			return fault.Diagnostics{complaintAt(fault.StageAdmit, fault.RequestSeveral, list[i+1].Span,
				fmt.Sprintf("statement %d follows the end of the transaction; nothing was applied", i+2))}
		case k == classEnd:
		case k == classSession || k == classRead || k == classClient:
			return fault.Diagnostics{alone(i, p)}
		case !k.queueable():
			return fault.Diagnostics{content(i, p)}
		}
	}
	return nil
}

func judgeOne(p parse.Parsed, bound bool) fault.Diagnostics {
	switch k := classify(p.Stmt); {
	case k == classOther:
		return fault.Diagnostics{complaintAt(fault.StageAdmit, fault.RequestUnsupported, p.Span, "this statement cannot be executed here")}
	case bound && k == classBegin:
		return fault.Diagnostics{complaintAt(fault.StageAdmit, fault.TransactionActive, p.Span, "a transaction is open already")}
	case k.elsewhere():
		return fault.Diagnostics{misplaced(p, bound)}
	case bound && k == classCluster:
		return fault.Diagnostics{content(0, p)}
	case !bound && k == classEnd:
		return fault.Diagnostics{complaintAt(fault.StageAdmit, fault.TransactionNone, p.Span, "no transaction is open in this session")}
	}
	if _, use := p.Stmt.(*ast.Use); use && bound {
		return fault.Diagnostics{complaintAt(fault.StageAdmit, fault.TransactionActive, p.Span, "USE is refused while a transaction is open")}
	}
	return nil
}

// misplaced answers what came as a command and belongs into a request or a call of its own.
func misplaced(p parse.Parsed, bound bool) fault.Diagnostic {
	switch one := p.Stmt.(type) {
	case *ast.Upload:
		return complaintAt(fault.StageAdmit, fault.RequestClient, p.Span,
			"UPLOAD RESOURCE "+string(one.Resource.Name)+" reads files of the client's machine, so the client executes it; the server got only its text")
	case *ast.DetachDomainClock:
		return clockRequest(p, "DETACH", bound)
	default:
		return clockRequest(p, "ATTACH", bound)
	}
}

func clockRequest(p parse.Parsed, word string, bound bool) fault.Diagnostic {
	if bound {
		return complaintAt(fault.StageAdmit, fault.TransactionActive, p.Span, word+" DOMAIN CLOCK is refused while a transaction is open")
	}
	return complaintAt(fault.StageAdmit, fault.RequestSession, p.Span, word+" DOMAIN CLOCK is a request of the session, not a command")
}

func alone(i int, p parse.Parsed) fault.Diagnostic {
	return complaintAt(fault.StageAdmit, fault.RequestAlone, p.Span, fmt.Sprintf("statement %d must be the only one of its request; nothing was applied", i+1))
}

func content(i int, p parse.Parsed) fault.Diagnostic {
	return complaintAt(fault.StageAdmit, fault.TransactionContent, p.Span, fmt.Sprintf("statement %d cannot be part of a transaction; nothing was applied", i+1))
}
