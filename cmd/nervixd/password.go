// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"

	"github.com/nervix-go/nervix/host/datadir"
	"github.com/nervix-go/nervix/host/users"
)

// followPassword takes over the password that an operator wrote into context.json after ALTER USER of the first user, so that the file this start
// writes does not bring the old one back. A password that is not the committed one is only told: the new one is nowhere but with the operator.
func (n *node) followPassword() {
	hash := n.control.State().Users[datadir.AdminUser].PHC
	if ok, err := users.Verify(hash, n.admin.Password); ok || err != nil {
		return
	}
	path := filepath.Join(n.dir.Path(), "context.json")
	if c, err := datadir.ReadContext(path); err == nil && c.Username == datadir.AdminUser {
		if ok, err := users.Verify(hash, c.Password); ok && err == nil {
			if err := n.dir.SetAdminPassword(c.Password); err != nil {
				n.options.log.Warn("the password in the context file is kept for this start only", "file", path, "error", err)
			}
			n.admin.Password = c.Password
			return
		}
	}
	n.options.log.Warn("the context file does not hold the present password of the first user, which ALTER USER changed; write it into the file", "file", path, "user", datadir.AdminUser)
}
