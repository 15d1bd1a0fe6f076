// SPDX-License-Identifier: Apache-2.0

package dragon

import (
	"testing"

	"github.com/lni/dragonboat/v4/raftpb"
)

func TestFilterDropsWhatWouldPanic(t *testing.T) {
	good := raftpb.Message{To: 1, From: 2, ShardID: shardID, Type: raftpb.Heartbeat}
	with := func(change func(*raftpb.Message)) raftpb.Message {
		m := good
		change(&m)
		return m
	}
	batch := raftpb.MessageBatch{SourceAddress: "n2.node", DeploymentId: 5, Requests: []raftpb.Message{
		good,
		with(func(m *raftpb.Message) { m.To = 0 }),
		with(func(m *raftpb.Message) { m.From = 0 }),
		with(func(m *raftpb.Message) { m.ShardID = 2 }),
		with(func(m *raftpb.Message) { m.Type = raftpb.InstallSnapshot }),
		with(func(m *raftpb.Message) { m.Type = raftpb.LocalTick }),
		with(func(m *raftpb.Message) { m.Type = raftpb.Unreachable }),
		with(func(m *raftpb.Message) { m.Type = 99 }),
	}}
	clean, any := acceptable(batch, "n2.node", 5)
	if !any || len(clean.Requests) != 1 || clean.Requests[0].Type != raftpb.Heartbeat {
		t.Fatalf("kept %v", clean.Requests)
	}
	if len(batch.Requests) != 8 {
		t.Fatal("the batch of the caller was changed")
	}
	if _, any := acceptable(batch, "n3.node", 5); any {
		t.Error("a foreign source address passed")
	}
	if _, any := acceptable(batch, "n2.node", 6); any {
		t.Error("a foreign deployment passed")
	}
}
