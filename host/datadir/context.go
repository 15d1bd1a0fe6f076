// SPDX-License-Identifier: Apache-2.0

package datadir

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

// ContextVersion is the version of context.json that this program writes and reads.
const ContextVersion = 1

// Context is what a client needs to get in: address, authority, user and password. It is a secret.
type Context struct {
	Version  int    `json:"version"`
	Server   string `json:"server"`
	CAPEM    string `json:"ca_pem"`
	Username string `json:"username"`
	Password string `json:"password"`
}

// String leaves the password out, so that a context can be logged.
func (c Context) String() string { return "context for " + c.Username + " at " + c.Server }

// GoString leaves the password out.
func (c Context) GoString() string { return c.String() }

// Credentials are the first user of a node.
type Credentials struct {
	Username string `json:"username"`
	Password string `json:"password"`
}

// AdminUser is the name of the first user.
const AdminUser = "admin"

// Admin reads the credentials of the first user. At the first start generate makes the password. They stay the same over restarts; the
// file is private. Who changes the password by ALTER USER has to tell SetAdminPassword, or context.json keeps the old one.
func (d *Dir) Admin(generate func() string) (Credentials, error) {
	var c Credentials
	content, err := os.ReadFile(d.join(adminName))
	switch {
	case errors.Is(err, os.ErrNotExist):
		c = Credentials{Username: AdminUser, Password: generate()}
		return c, d.writeAdmin(c)
	case err != nil:
		return c, err
	}
	if err := json.Unmarshal(content, &c); err != nil || c.Username == "" || c.Password == "" {
		return Credentials{}, damaged(d.path, fmt.Errorf("file %s holds no credentials", adminName)) // the JSON error could quote the file
	}
	return c, nil
}

// SetAdminPassword replaces the password that later contexts carry.
func (d *Dir) SetAdminPassword(password string) error {
	return d.writeAdmin(Credentials{Username: AdminUser, Password: password})
}

func (d *Dir) writeAdmin(c Credentials) error {
	content, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return replace(d.join(adminName), append(content, '\n'), privateFile)
}

// WriteContext writes DIR/context.json, private and at once, and gives its path.
func (d *Dir) WriteContext(server string, caPEM []byte, c Credentials) (string, error) {
	content, err := json.Marshal(Context{Version: ContextVersion, Server: server, CAPEM: string(caPEM), Username: c.Username, Password: c.Password})
	if err != nil {
		return "", err
	}
	path := d.join(contextName)
	return path, replace(path, append(content, '\n'), privateFile)
}

// ReadContext reads a context file. Faults: context.missing, context.invalid. The error names the file and never its content.
func ReadContext(path string) (Context, error) {
	invalid := func(detail string) (Context, error) {
		return Context{}, fault.New(fault.ContextInvalid, "datadir.ReadContext", ident.Ref{}, "context file "+path+": "+detail, nil)
	}
	content, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return Context{}, fault.New(fault.ContextMissing, "datadir.ReadContext", ident.Ref{}, "there is no context file "+path, nil)
	case err != nil:
		return invalid(err.Error())
	}
	var c Context
	if json.Unmarshal(content, &c) != nil {
		return invalid("it is not the JSON of a context")
	}
	switch {
	case c.Version > ContextVersion:
		return invalid(fmt.Sprintf("version %d, this program knows %d", c.Version, ContextVersion))
	case c.Version != ContextVersion:
		return invalid("it has no version")
	case c.Server == "" || c.Username == "" || c.Password == "":
		return invalid("server, username or password is missing")
	}
	return c, nil
}

// ContextVariable is the environment variable that names the context file.
const ContextVariable = "NERVIX_CONTEXT"

// FindContext gives the path of the context file: the flag, else the variable NERVIX_CONTEXT, else context.json in the folder nervix of
// the user's configuration folder. getenv is os.Getenv.
func FindContext(flag string, getenv func(string) string) (string, error) {
	if flag != "" {
		return flag, nil
	}
	if path := getenv(ContextVariable); path != "" {
		return path, nil
	}
	folder, err := os.UserConfigDir()
	if err != nil {
		return "", fault.New(fault.ContextMissing, "datadir.FindContext", ident.Ref{},
			"no --context, no "+ContextVariable+", and this system names no configuration folder", err)
	}
	return filepath.Join(folder, "nervix", contextName), nil
}
