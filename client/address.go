// SPDX-License-Identifier: Apache-2.0

package client

import (
	"net"
	"net/url"
	"strconv"
)

// Scheme of server addresses.
const Scheme = "nervix"

// Address is a parsed server address.
type Address struct {
	Host string
	Port uint16
}

// String is the form nervix://host:port.
func (a Address) String() string {
	return Scheme + "://" + net.JoinHostPort(a.Host, strconv.Itoa(int(a.Port)))
}

// ParseAddress reads nervix://host:port. A path, query, fragment or user information is refused, and so is a missing port; the host is a
// name, an IPv4 address, or an IPv6 address in brackets.
func ParseAddress(text string) (Address, error) {
	bad := func(detail string) (Address, error) {
		return Address{}, failure(ErrAddress, "want nervix://host:port, "+detail, nil)
	}
	u, err := url.Parse(text)
	if err != nil {
		return bad("not a URL") // the parser's error would repeat the text, which may hold a password
	}
	switch {
	case u.Scheme != Scheme:
		return bad("the scheme is " + strconv.Quote(u.Scheme))
	case u.User != nil:
		return bad("user and password do not belong into the address")
	case u.Path != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.Opaque != "":
		return bad("nothing may follow the port")
	case u.Hostname() == "":
		return bad("the host is missing")
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil || port == 0 {
		return bad("the port is missing or no number from 1 to 65535")
	}
	return Address{Host: u.Hostname(), Port: uint16(port)}, nil
}
