// SPDX-License-Identifier: Apache-2.0

package ident

// Kind is an object kind of NSPL (nspl 2.1). The numbers are stored; they are never reused.
type Kind uint8

// The object kinds. Wire schemas of different formats are different kinds.
const (
	KindNone         Kind = 0
	KindDomain       Kind = 1
	KindUser         Kind = 2
	KindSchema       Kind = 3
	KindWireJSON     Kind = 4
	KindWireCBOR     Kind = 5
	KindWireAvro     Kind = 6
	KindCodec        Kind = 7
	KindBranch       Kind = 8
	KindRelay        Kind = 9
	KindResource     Kind = 10
	KindClient       Kind = 11
	KindSignaling    Kind = 12
	KindVhost        Kind = 13
	KindEndpoint     Kind = 14
	KindHashMap      Kind = 15
	KindUDF          Kind = 16
	KindPlacement    Kind = 17
	KindIngestor     Kind = 18
	KindJunction     Kind = 19
	KindDeduplicator Kind = 20
	KindReorderer    Kind = 21
	KindWindow       Kind = 22
	KindCorrelator   Kind = 23
	KindInferencer   Kind = 24
	KindWASM         Kind = 25
	KindReingestor   Kind = 26
	KindGenerator    Kind = 27
	KindEmitter      Kind = 28
	KindNode         Kind = 29 // a cluster node, for SHOW and faults; not a definition
)

var kindWords = [...]string{
	KindNone: "", KindDomain: "DOMAIN", KindUser: "USER", KindSchema: "SCHEMA", KindWireJSON: "WIRE JSON SCHEMA",
	KindWireCBOR: "WIRE CBOR SCHEMA", KindWireAvro: "WIRE AVRO SCHEMA", KindCodec: "CODEC", KindBranch: "BRANCH", KindRelay: "RELAY",
	KindResource: "RESOURCE", KindClient: "CLIENT", KindSignaling: "SIGNALING PROTOCOL", KindVhost: "VHOST", KindEndpoint: "ENDPOINT",
	KindHashMap: "HASH MAP", KindUDF: "UDF", KindPlacement: "PLACEMENT", KindIngestor: "INGESTOR", KindJunction: "JUNCTION",
	KindDeduplicator: "DEDUPLICATOR", KindReorderer: "REORDERER", KindWindow: "WINDOW PROCESSOR", KindCorrelator: "CORRELATOR",
	KindInferencer: "INFERENCER", KindWASM: "WASM PROCESSOR", KindReingestor: "REINGESTOR", KindGenerator: "GENERATOR",
	KindEmitter: "EMITTER", KindNode: "NODE",
}

// String is the kind as NSPL writes it, for example `WIRE JSON SCHEMA`.
func (k Kind) String() string {
	if int(k) < len(kindWords) {
		return kindWords[k]
	}
	return "KIND?"
}

// Runtime says whether objects of the kind are scheduled onto a node and executed (nspl 2.1).
func (k Kind) Runtime() bool {
	switch k {
	case KindRelay, KindHashMap:
		return true
	default:
		return k >= KindIngestor && k <= KindEmitter
	}
}
