// SPDX-License-Identifier: Apache-2.0

// Package datadir owns the data folder of a node: who may use it, which node it belongs to, how often the node has started, its private
// certificate authority, and the context file that lets a client on the same machine in.
//
//	DIR/identity       node, cluster, format version; written once (docs/formats/session.md)
//	DIR/incarnation    count of starts; synced before anything else happens in a start
//	DIR/lock           held with flock while the node runs; holds the process id
//	DIR/tls/           ca.pem ca.key server.pem server.key reset.key
//	DIR/admin.json     the first user and its generated password
//	DIR/context.json   what a client needs; written again at each start, because the port may differ
//	DIR/raft DIR/state folders of other packages, made by Sub
//
// Every file is replaced by rename after it was synced, and its folder is synced after that.
package datadir
