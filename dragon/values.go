// SPDX-License-Identifier: Apache-2.0

package dragon

import (
	"time"

	"github.com/lni/dragonboat/v4/config"
)

const (
	shardID   = 1
	replicaID = 1
	// attempt is how long one proposal may take before it is repeated with the same entry. A forwarded proposal that is lost has no other
	// end than this (probes B2.4).
	attempt = 300 * time.Millisecond
	// pause separates attempts that were refused at once: no leader yet, or a full queue.
	pause = 20 * time.Millisecond
	// tick is the unit of Raft's timers.
	tick = 10 * time.Millisecond
)

// hostConfig holds the measured values of probes B8.2. Shard counts are fixed for ever by the first start.
func hostConfig(c Config, dir string) config.NodeHostConfig {
	log := config.GetTinyMemLogDBConfig()
	log.Shards = 1
	log.KVWriteBufferSize = 1 << 20
	log.KVMaxWriteBufferNumber = 4
	log.KVLRUCacheSize = 1 << 20
	log.KVMaxBytesForLevelBase = 16 << 20
	log.KVTargetFileSizeBase = 2 << 20
	log.MaxSaveBufferSize = 8 << 20
	return config.NodeHostConfig{
		DeploymentID:        deployment(c.Cluster),
		NodeHostDir:         dir,
		RTTMillisecond:      uint64(tick / time.Millisecond),
		RaftAddress:         c.address(),
		MaxSendQueueSize:    64 << 20,
		MaxReceiveQueueSize: 64 << 20,
		Expert: config.ExpertConfig{
			Engine:           config.EngineConfig{ExecShards: 1, CommitShards: 1, ApplyShards: 1, SnapshotShards: 2, CloseShards: 1},
			LogDB:            log,
			TransportFactory: loopbackFactory{},
		},
	}
}

func shardConfig(snapshotEntries uint64) config.Config {
	return config.Config{
		ReplicaID: replicaID, ShardID: shardID, CheckQuorum: true, PreVote: true, ElectionRTT: 20, HeartbeatRTT: 2,
		SnapshotEntries: snapshotEntries, CompactionOverhead: snapshotEntries / 5, OrderedConfigChange: true, MaxInMemLogSize: 64 << 20,
	}
}
