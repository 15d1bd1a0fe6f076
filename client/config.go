// SPDX-License-Identifier: Apache-2.0

package client

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"slices"
	"time"

	"github.com/nervix-go/nervix/host/wire"
	"github.com/quic-go/quic-go"
)

// alpn names the session protocol in the TLS handshake.
const alpn = "nervix-session/1"

// Config says where and as whom to connect. Zero durations mean the defaults named.
type Config struct {
	// Server is nervix://host:port.
	Server string
	// Seeds are further addresses of the cluster, of the same form. Each connection tries all of them and Server, in random order.
	Seeds []string
	// CAPEM is the certificate authority of the cluster, as context.json holds it. Empty means the system's roots.
	CAPEM []byte
	// TLS replaces CAPEM for everything but protocol version and ALPN: own roots, a client certificate. The server name is that of
	// the address unless set.
	TLS      *tls.Config
	User     string
	Password string
	// Domain is used by commands that name none.
	Domain string
	// Program names the calling program in the node's log; `client` if empty.
	Program string

	// ConnectTimeout bounds each attempt to connect, 10 s; RequestTimeout the wait for one reply, 120 s; CallTimeout a whole call with
	// its repetitions, 120 s. A context can end a call earlier.
	ConnectTimeout, RequestTimeout, CallTimeout time.Duration
	// KeepAlive is the idleness after which the client says that it lives, 5 s; IdleTimeout the silence after which it gives the
	// connection up, 15 s. A negative KeepAlive switches it off, for tests.
	KeepAlive, IdleTimeout time.Duration
	// FrameLimit is the greatest frame in bytes, 4 MiB.
	FrameLimit int

	// socket opens the socket of a connection; tests replace it.
	socket func() (net.PacketConn, error)
}

// servers are the addresses to try, each once.
func (c Config) servers() []string {
	list := []string{c.Server}
	for _, seed := range c.Seeds {
		if !slices.Contains(list, seed) {
			list = append(list, seed)
		}
	}
	return list
}

func (c Config) withDefaults() Config {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&c.ConnectTimeout, 10 * time.Second}, {&c.RequestTimeout, 120 * time.Second}, {&c.CallTimeout, 120 * time.Second},
		{&c.KeepAlive, 5 * time.Second}, {&c.IdleTimeout, 15 * time.Second},
	} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	c.KeepAlive = max(0, c.KeepAlive)
	if c.FrameLimit == 0 {
		c.FrameLimit = wire.DefaultFrameLimit
	}
	if c.Program == "" {
		c.Program = "client"
	}
	return c
}

// tls builds the TLS configuration for a host.
func (c Config) tls(host string) (*tls.Config, error) {
	t := &tls.Config{}
	switch {
	case c.TLS != nil:
		t = c.TLS.Clone()
	case len(c.CAPEM) > 0:
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(c.CAPEM) {
			return nil, failure(ErrTLS, "the certificate authority holds no certificate in PEM form", nil)
		}
	}
	t.MinVersion = tls.VersionTLS13
	t.NextProtos = []string{alpn}
	if t.ServerName == "" {
		t.ServerName = host
	}
	return t, nil
}

func (c Config) quic() *quic.Config {
	return &quic.Config{
		HandshakeIdleTimeout:  c.ConnectTimeout,
		MaxIdleTimeout:        c.IdleTimeout,
		KeepAlivePeriod:       c.KeepAlive,
		MaxIncomingStreams:    -1,
		MaxIncomingUniStreams: -1,
	}
}
