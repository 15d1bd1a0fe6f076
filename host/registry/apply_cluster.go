// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"maps"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

func (s *State) bootstrap(b *Bootstrap) (*State, Result) {
	if s.Cluster == b.Cluster {
		return s, unchanged()
	}
	if s.Cluster != "" {
		return s, refused(fault.ControlBootstrap, "this state belongs to cluster "+s.Cluster+", not to "+b.Cluster)
	}
	next := *s
	next.Cluster = b.Cluster
	next.Limits = b.Limits
	next.Users = make(map[ident.Name]User, len(b.Users))
	for _, u := range b.Users {
		next.Users[u.Name] = u
	}
	return &next, applied()
}

func (s *State) nodeStarted(b *NodeStarted) (*State, Result) {
	old, known := s.Nodes[b.Node.ID]
	if known && old == b.Node {
		return s, unchanged()
	}
	if known && b.Node.Incarnation <= old.Incarnation {
		return s, refused(fault.ControlIncarnation, "node "+b.Node.ID.String()+" started before with this or a later incarnation; its data folder is an old copy")
	}
	next := *s
	next.Nodes = maps.Clone(s.Nodes)
	next.Nodes[b.Node.ID] = b.Node
	return next.failUploads(b.Node.ID), applied()
}

func (s *State) putUser(b *PutUser) (*State, Result) {
	_, known := s.Users[b.User.Name]
	switch {
	case b.Alter && !known:
		return s, refused(fault.UserUnknown, "there is no user "+string(b.User.Name))
	case !b.Alter && known && b.IfNotExists:
		return s, alreadyExisted("USER " + string(b.User.Name))
	case !b.Alter && known:
		return s, refused(fault.UserExists, "user "+string(b.User.Name)+" exists")
	}
	next := *s
	next.Users = maps.Clone(s.Users)
	next.Users[b.User.Name] = b.User
	return &next, applied()
}

func (s *State) dropUser(c *Command, b *DropUser) (*State, Result) {
	_, known := s.Users[b.Name]
	switch {
	case !known:
		return s, refused(fault.UserUnknown, "there is no user "+string(b.Name))
	case c.User == b.Name:
		return s, refused(fault.UserSelf, "user "+string(b.Name)+" cannot drop itself")
	case len(s.Users) == 1:
		return s, refused(fault.UserLast, "user "+string(b.Name)+" is the last one")
	}
	next := *s
	next.Users = maps.Clone(s.Users)
	delete(next.Users, b.Name)
	return &next, applied()
}

// alreadyExisted is the answer of CREATE IF NOT EXISTS that found the name taken (nspl 2.3).
func alreadyExisted(what string) Result {
	return Result{Verdict: Applied, Outcome: Outcome{Text: what + " already exists; nothing changed", AlreadyExisted: true}}
}
