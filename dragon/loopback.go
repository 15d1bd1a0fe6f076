// SPDX-License-Identifier: Apache-2.0

package dragon

import (
	"context"
	"strings"

	"github.com/lni/dragonboat/v4/config"
	"github.com/lni/dragonboat/v4/raftio"
	"github.com/lni/dragonboat/v4/raftpb"
)

// loopbackFactory makes the transport of a cluster of one: it opens no socket and reaches only the node itself.
type loopbackFactory struct{}

// Create is called once by a NodeHost.
func (loopbackFactory) Create(c config.NodeHostConfig, handle raftio.MessageHandler, _ raftio.ChunkHandler) raftio.ITransport {
	return &loopback{self: c.RaftAddress, deployment: c.DeploymentID, handle: handle}
}

// Validate accepts the logical addresses `n<id>.node`.
func (loopbackFactory) Validate(address string) bool {
	return strings.HasPrefix(address, "n") && strings.HasSuffix(address, ".node")
}

type loopback struct {
	self       string
	deployment uint64
	handle     raftio.MessageHandler
}

func (*loopback) Name() string { return "loopback" }
func (*loopback) Start() error { return nil }
func (*loopback) Close() error { return nil }

// GetConnection never fails: an error would trip a breaker that holds heartbeats back (probes B4). What cannot be delivered is dropped.
func (l *loopback) GetConnection(_ context.Context, target string) (raftio.IConnection, error) {
	return loopbackConnection{l, target}, nil
}

func (l *loopback) GetSnapshotConnection(_ context.Context, target string) (raftio.ISnapshotConnection, error) {
	return loopbackConnection{l, target}, nil
}

type loopbackConnection struct {
	l      *loopback
	target string
}

func (loopbackConnection) Close() {}

// SendMessageBatch delivers what the node sends to itself and drops the rest.
func (c loopbackConnection) SendMessageBatch(batch raftpb.MessageBatch) error {
	if c.target == c.l.self {
		if clean, any := acceptable(batch, c.l.self, c.l.deployment); any {
			c.l.handle(clean)
		}
	}
	return nil
}

// SendChunk drops: a single replica sends no snapshot to anybody.
func (loopbackConnection) SendChunk(raftpb.Chunk) error { return nil }
