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
	classLifecycle       // START, STOP: queueable, a step of its own
	classCluster         // CREATE/DROP DOMAIN, users: never in a transaction
	classBegin
	classEnd     // COMMIT, REVERT
	classSession // USE, LIST DOMAINS: alone, without a reference
	classRead    // SHOW, DESCRIBE: without a reference
)

func classify(s ast.Statement) class {
	switch one := s.(type) {
	case *ast.CreateDomain, *ast.CreateUser, *ast.AlterUser:
		return classCluster
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
	default:
		return classOther
	}
}

func (c class) queueable() bool { return c == classModel || c == classLifecycle }

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
			if classify(p.Stmt) == classSession {
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
		case k == classSession || k == classRead:
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

func alone(i int, p parse.Parsed) fault.Diagnostic {
	return complaintAt(fault.StageAdmit, fault.RequestAlone, p.Span, fmt.Sprintf("statement %d must be the only one of its request; nothing was applied", i+1))
}

func content(i int, p parse.Parsed) fault.Diagnostic {
	return complaintAt(fault.StageAdmit, fault.TransactionContent, p.Span, fmt.Sprintf("statement %d cannot be part of a transaction; nothing was applied", i+1))
}
