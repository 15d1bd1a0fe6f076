// SPDX-License-Identifier: Apache-2.0

package dragon

import "github.com/lni/dragonboat/v4/raftpb"

// remote says which message types may come from another replica. Every other type is local to a NodeHost and panics it when it arrives from
// outside; a snapshot comes in chunks and never as a message (probes B2.8).
var remote = map[raftpb.MessageType]bool{
	raftpb.NoOP: true, raftpb.Ping: true, raftpb.Pong: true, raftpb.Propose: true, raftpb.Replicate: true, raftpb.ReplicateResp: true,
	raftpb.RequestVote: true, raftpb.RequestVoteResp: true, raftpb.Heartbeat: true, raftpb.HeartbeatResp: true, raftpb.ReadIndex: true,
	raftpb.ReadIndexResp: true, raftpb.Quiesce: true, raftpb.SnapshotReceived: true, raftpb.LeaderTransfer: true, raftpb.TimeoutNow: true,
	raftpb.RequestPreVote: true, raftpb.RequestPreVoteResp: true,
}

// acceptable keeps the messages of a batch that cannot panic the receiver. sender is the authenticated address of the other side; a batch
// that claims another one is dropped whole. any is false when nothing is left.
func acceptable(batch raftpb.MessageBatch, sender string, deployment uint64) (clean raftpb.MessageBatch, any bool) {
	if batch.SourceAddress != sender || batch.DeploymentId != deployment {
		return raftpb.MessageBatch{}, false
	}
	kept := make([]raftpb.Message, 0, len(batch.Requests))
	for _, m := range batch.Requests {
		if m.To != 0 && m.From != 0 && m.ShardID == shardID && remote[m.Type] {
			kept = append(kept, m)
		}
	}
	batch.Requests = kept
	return batch, len(kept) > 0
}
