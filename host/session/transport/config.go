// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"time"

	"github.com/nervix-go/nervix/host/session/clocks"
	"github.com/nervix-go/nervix/host/session/lanes"
	"github.com/nervix-go/nervix/host/wire"
	"github.com/quic-go/quic-go"
)

// ALPN names the session protocol in the TLS handshake. The node's UDP port serves other protocols under other names.
const ALPN = "nervix-session/1"

// Authenticator judges user and password. nil accepts. session.credentials_unavailable says that they could not be judged; everything
// else is a refusal. Pacing of failed attempts is the authenticator's business; ctx bounds the wait.
type Authenticator interface {
	Authenticate(ctx context.Context, user, password string) error
}

// Opened describes a session that passed authentication.
type Opened struct {
	User   string
	Domain string
	// Client is what the client program calls itself.
	Client string
	// Remote is the address of the client, for logs.
	Remote string
}

// Opener makes the handler of a new session.
type Opener func(Opened) lanes.Handler

// Uploads serves upload streams; see "Uploads" in the package comment for the frames.
type Uploads interface {
	// Upload serves one stream of a session from its first frame to its last, and returns. It runs in a goroutine of the session. ctx ends
	// when the connection is lost, and when the server drains or aborts; reads and writes of the stream then fail, and Upload has to
	// return: the end of the session awaits it. What goes on without the connection is the implementation's own work.
	//
	// A read gives io.EOF when the client has said its last; a write blocks while the client does not read. After the return the stream
	// is closed for writing, and what the client still sends is not read. Upload never sees more than MaxUploads streams of one session
	// at a time.
	Upload(ctx context.Context, opened Opened, stream io.ReadWriter)
}

// MaxUploads is how many upload streams a session may have at once. A client that opens a fifth waits.
const MaxUploads = 4

// Config of a Server. Zero values mean the defaults named at the fields; nothing can be changed later.
type Config struct {
	// Node and Incarnation introduce the node to the client.
	Node        string
	Incarnation uint64
	// TLS brings the certificate; protocol version, ALPN and session tickets are set by the server.
	TLS          *tls.Config
	Authenticate Authenticator
	Open         Opener
	// Uploads serves upload streams; nil refuses them: the session lacks the feature FeatureUploads, and no third stream can be opened.
	Uploads Uploads
	// Clocks lets sessions follow the domain clocks of this node; nil refuses it, and the session lacks the feature FeatureClocks.
	Clocks clocks.Clocks
	// Log takes one line a session; nil discards.
	Log *slog.Logger

	// FrameLimit is the greatest frame in bytes, 4 MiB; 1 KiB..256 MiB.
	FrameLimit int
	// InFlight is the greatest number of requests of a session, 64.
	InFlight int
	// MaxSessions bounds connections, authenticated or not, 1,024.
	MaxSessions int
	// HelloTimeout bounds the wait for Hello, and then the wait for a judgement of the credentials, 10 s each.
	HelloTimeout time.Duration
	// KeepAlive is the idleness after which either side says that it lives, 5 s; IdleTimeout is the silence after which the connection
	// is given up, 15 s.
	KeepAlive, IdleTimeout time.Duration
	// EndingGrace is how long a client may take to read an ending before the connection is cut, 250 ms.
	EndingGrace time.Duration
}

func (c Config) withDefaults() Config {
	setDefault(&c.FrameLimit, wire.DefaultFrameLimit)
	setDefault(&c.InFlight, lanes.DefaultInFlight)
	setDefault(&c.MaxSessions, 1024)
	setDefault(&c.HelloTimeout, 10*time.Second)
	setDefault(&c.KeepAlive, 5*time.Second)
	setDefault(&c.IdleTimeout, 15*time.Second)
	setDefault(&c.EndingGrace, 250*time.Millisecond)
	c.FrameLimit = max(wire.MinFrameLimit, min(c.FrameLimit, wire.MaxFrameLimit))
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// helloLimit is the greatest frame before authentication: Hello with its longest members fits.
const helloLimit = 4096

// Windows of flow control: what a client may send without being read. All streams together stay below the connection's window, so what is
// not read on one stream does not close another. The connection's window alone admits nothing: the sum of the streams' windows bounds the
// bytes that wait.
const (
	laneWindowInitial = 64 << 10
	laneWindow        = 1 << 20
	connectionWindow  = (2 + MaxUploads + 1) * laneWindow
)

// QUIC is the QUIC configuration for connections of this protocol: two lanes and the upload streams, no unidirectional streams from
// clients, no 0-RTT.
func (c Config) QUIC() *quic.Config {
	c = c.withDefaults()
	streams := int64(2)
	if c.Uploads != nil {
		streams += MaxUploads
	}
	return &quic.Config{
		HandshakeIdleTimeout:           5 * time.Second,
		MaxIdleTimeout:                 c.IdleTimeout,
		KeepAlivePeriod:                c.KeepAlive,
		MaxIncomingStreams:             streams,
		MaxIncomingUniStreams:          -1,
		InitialStreamReceiveWindow:     laneWindowInitial,
		MaxStreamReceiveWindow:         laneWindow,
		InitialConnectionReceiveWindow: connectionWindow,
		MaxConnectionReceiveWindow:     connectionWindow,
		RequireStreamCreditRelease:     true, // a lane that ended is not replaced by another; the place of an upload is given back
		Allow0RTT:                      false,
	}
}

// ServerTLS is the TLS configuration of the listener.
func (c Config) ServerTLS() *tls.Config {
	t := c.TLS.Clone()
	t.MinVersion = tls.VersionTLS13
	t.NextProtos = []string{ALPN}
	t.SessionTicketsDisabled = true
	return t
}
