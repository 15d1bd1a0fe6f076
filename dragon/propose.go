// SPDX-License-Identifier: Apache-2.0

package dragon

import (
	"context"
	"errors"

	"github.com/lni/dragonboat/v4"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/registry"
)

// Propose stores an entry and gives the result of applying it. ctx bounds the wait only; without a deadline it waits for as long as the log
// is open. Errors: `control.unavailable` when nothing was stored, `control.closed` when the log was closed before anything was stored,
// `control.uncertain` otherwise: the same entry may be proposed again.
func (l *Log) Propose(ctx context.Context, entry []byte) (registry.Result, error) {
	session := l.host.GetNoOPSession(shardID)
	sent := false
	for {
		select {
		case <-l.done:
			return registry.Result{}, lost(sent, closedError())
		default:
		}
		try, cancel := osclock.WithTimeout(ctx, attempt)
		res, err := l.host.SyncPropose(try, session, entry)
		cancel()
		if err == nil {
			return registry.DecodeResult(res.Data)
		}
		again, stored := judge(err)
		sent = sent || stored
		if !again {
			return registry.Result{}, lost(sent, err)
		}
		if osclock.Wait(ctx, pause) != nil {
			return registry.Result{}, lost(sent, err)
		}
	}
}

// judge says whether an attempt may be repeated and whether its entry may have been stored.
func judge(err error) (again, stored bool) {
	switch {
	case errors.Is(err, dragonboat.ErrShardNotReady), errors.Is(err, dragonboat.ErrSystemBusy), errors.Is(err, dragonboat.ErrTimeoutTooSmall):
		return true, false
	case errors.Is(err, dragonboat.ErrTimeout), errors.Is(err, dragonboat.ErrCanceled), errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, context.Canceled), errors.Is(err, dragonboat.ErrAborted):
		return true, true
	case errors.Is(err, dragonboat.ErrPayloadTooBig), errors.Is(err, dragonboat.ErrInvalidDeadline), errors.Is(err, dragonboat.ErrDeadlineNotSet):
		return false, false
	default: // closed, or unknown: it may have been stored before
		return false, true
	}
}

// lost is the answer when no result arrived.
func lost(stored bool, err error) error {
	if !stored {
		if fault.Has(err, fault.ControlClosed) {
			return err
		}
		return fault.New(fault.ControlUnavailable, "dragon.Propose", ident.Ref{}, "the command was not stored", err)
	}
	return fault.New(fault.ControlUncertain, "dragon.Propose", ident.Ref{}, "the command may or may not have taken effect", err)
}

func closedError() error {
	return fault.New(fault.ControlClosed, "dragon.Propose", ident.Ref{}, "", nil)
}
