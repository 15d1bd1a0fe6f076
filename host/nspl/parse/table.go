// SPDX-License-Identifier: Apache-2.0

package parse

import (
	"strings"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// statementForm parses what follows the first words of a statement that began at offset start.
type statementForm struct {
	parse func(p *parser, start int) ast.Statement
}

// statements is the language: one line a statement. CREATE has a table of its own.
var statements = []choice[statementForm]{
	{"ALTER RELAY", statementForm{parseAlterRelay}},
	{"ALTER USER", statementForm{parseAlterUser}},
	{"ATTACH DOMAIN CLOCK", statementForm{parseAttachClock}},
	{"BEGIN", statementForm{parseBegin}},
	{"COMMIT", statementForm{parseCommit}},
	{"CREATE", statementForm{parseCreate}},
	{"DESCRIBE", statementForm{parseDescribe}},
	{"DETACH DOMAIN CLOCK", statementForm{parseDetachClock}},
	{"DROP", statementForm{parseDrop}},
	{"LIST DOMAINS", statementForm{parseListDomains}},
	{"REVERT", statementForm{parseRevert}},
	{"SHOW CREATE", statementForm{parseShowCreate}},
	{"SHOW INGESTORS", statementForm{parseShowIngestors}},
	{"SHOW CLUSTER STATUS", statementForm{parseShowClusterStatus}},
	{"START", statementForm{parseStart}},
	{"STOP", statementForm{parseStop}},
	{"UPLOAD RESOURCE", statementForm{parseUpload}},
	{"USE", statementForm{parseUse}},
}

// creations lists the objects that can be created: one line a kind, further lines for the words that may stand before it.
var creations = []choice[creation]{
	{"DOMAIN", creation{ident.KindDomain, parseCreateDomain}},
	{"UNPACED DOMAIN", creation{ident.KindDomain, parseCreateDomain}},
	{"PACED DOMAIN", creation{ident.KindDomain, parseCreatePacedDomain}},
	{"USER", creation{ident.KindUser, parseCreateUser}},
	{"SCHEMA", creation{ident.KindSchema, parseCreateSchema}},
	{"WIRE JSON SCHEMA", creation{ident.KindWireJSON, parseCreateWireJSON}},
	{"CODEC", creation{ident.KindCodec, parseCreateCodec}},
	{"BRANCH", creation{ident.KindBranch, parseCreateBranch}},
	{"RELAY", creation{ident.KindRelay, parseCreateRelay}},
	{"RESOURCE", creation{ident.KindResource, parseCreateResource}},
	{"CLIENT", creation{ident.KindClient, parseCreateClient}},
	{"INGESTOR", creation{ident.KindIngestor, parseCreateIngestor}},
	{"JUNCTION", creation{ident.KindJunction, attached(parseCreateJunction, ast.Attached)}},
	{"ATTACHED JUNCTION", creation{ident.KindJunction, attached(parseCreateJunction, ast.Attached)}},
	{"DETACHED JUNCTION", creation{ident.KindJunction, attached(parseCreateJunction, ast.Detached)}},
	{"WASM PROCESSOR", creation{ident.KindWASM, attached(parseCreateWASM, ast.Attached)}},
	{"ATTACHED WASM PROCESSOR", creation{ident.KindWASM, attached(parseCreateWASM, ast.Attached)}},
	{"DETACHED WASM PROCESSOR", creation{ident.KindWASM, attached(parseCreateWASM, ast.Detached)}},
	{"EMITTER", creation{ident.KindEmitter, attached(parseCreateEmitter, ast.Attached)}},
	{"ATTACHED EMITTER", creation{ident.KindEmitter, attached(parseCreateEmitter, ast.Attached)}},
	{"DETACHED EMITTER", creation{ident.KindEmitter, attached(parseCreateEmitter, ast.Detached)}},
}

// definedKinds are the kinds that SHOW CREATE knows; DROP knows USER beside them.
var definedKinds = []ident.Kind{
	ident.KindDomain, ident.KindSchema, ident.KindWireJSON, ident.KindCodec, ident.KindBranch, ident.KindRelay, ident.KindResource,
	ident.KindClient, ident.KindIngestor, ident.KindJunction, ident.KindWASM, ident.KindEmitter,
}

// describedKinds are the kinds that DESCRIBE knows.
var describedKinds = []ident.Kind{
	ident.KindRelay, ident.KindResource, ident.KindIngestor, ident.KindJunction, ident.KindWASM, ident.KindEmitter,
}

func kindTable(kinds ...ident.Kind) []choice[ident.Kind] {
	table := make([]choice[ident.Kind], len(kinds))
	for i, k := range kinds {
		table[i] = choice[ident.Kind]{k.String(), k}
	}
	return table
}

// nameClass is what messages call the name of an object, for example "relay name".
func nameClass(kind ident.Kind) string { return strings.ToLower(kind.String()) + " name" }

// named reads the name of an object of a kind.
func (p *parser) named(kind ident.Kind) ast.Ident { return p.ident(nameClass(kind)) }

// firstWords are the words a statement begins with.
func firstWords() map[string]bool {
	set := map[string]bool{}
	for _, s := range statements {
		word, _, _ := strings.Cut(s.phrase, " ")
		set[word] = true
	}
	return set
}
