// SPDX-License-Identifier: Apache-2.0

package parse

import (
	"strings"

	"github.com/nervix-go/nervix/host/nspl/lex"
)

// planned are words of NSPL whose clauses and statements are not part of this version of the language.
var planned = wordSet(`ARRAY BACKUP BATCH BYTES CBOR AVRO COLLECT CORDON CORRELATOR DEDUPLICATOR DELETE DRAIN ENDPOINT EXPLAIN GENERATOR
	HASH INFERENCER INSTANCES INVOKE JSON_EXISTS JSON_VALUE KAFKA LOOKUP MOUNT MQTT NATS NODE PLUGIN POOL REBIND REINGESTOR RELOCATE REORDERER RESET
	RESTORE SIGNALING SUBSCRIPTION TRANSACTION TRANSACTIONS TRY_JSON_VALUE UDF UNCORDON VEC VHOST WINDOW`)

// notMaterialized is the hint where materialized state could stand in later versions of the language.
const notMaterialized = "materialized state is not part of this version of the language"

// Words people bring from other languages, with what NSPL has for them: where a statement or a kind is expected, where an operator is, and
// where a type is.
var (
	foreignStatements = map[string]string{
		"SELECT":   "NSPL has no queries: CREATE JUNCTION selects and computes, DESCRIBE and SHOW look",
		"INSERT":   "records enter through an ingestor: CREATE INGESTOR",
		"PAUSE":    "a domain is halted with STOP and resumed with START",
		"RESUME":   "a domain is halted with STOP and resumed with START",
		"ROLLBACK": "a transaction is abandoned with REVERT",
		"TABLE":    "records live in relays: CREATE RELAY",
		"STREAM":   "streams are relays: CREATE RELAY",
		"TOPIC":    "streams are relays: CREATE RELAY",
		"DATABASE": "the unit of a graph is a domain: CREATE DOMAIN",
		"TYPE":     "the shape of records is a schema: CREATE SCHEMA",
		"MODULE":   "modules are files of a resource: CREATE RESOURCE, then UPLOAD RESOURCE",
		"FUNCTION": "computations are expressions of a JUNCTION, or guests of a WASM PROCESSOR",
	}
	foreignOperators = map[string]string{
		"LIKE":   "texts are tested with contains(s, t), starts_with(s, t) and ends_with(s, t)",
		"MOD":    "the remainder is written `%`",
		"XOR":    "NSPL has AND, OR and NOT; for two conditions unequal is `!=`",
		"ISNULL": "null is tested with is_null(x)",
	}
	foreignTypes = func() map[string]string {
		const text, integer, float, when = "text is STRING", "integers are I8 to I64 and U8 to U64", "floats are F32 and F64", "points in time are DATETIME"
		return map[string]string{
			"VARCHAR": text, "TEXT": text, "CHAR": text, "STR": text, "INT": integer, "INTEGER": integer, "BIGINT": integer, "SMALLINT": integer, "LONG": integer,
			"FLOAT": float, "DOUBLE": float, "DECIMAL": float, "REAL": float, "NUMBER": "numbers are I8 to I64, U8 to U64, F32 and F64",
			"TIMESTAMP": when, "DATE": when, "TIME": when,
		}
	}()
)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// hint finds what to do about the current token, the most certain advice first.
func (p *parser) hint() string {
	word := p.keyword()
	if word == "" {
		return p.hintForSign()
	}
	if strings.EqualFold(p.name, "if") && (word == "NOT" || word == "EXISTS") {
		return ifHints[word]
	}
	if note := p.notes[word]; note != "" {
		return note
	}
	if p.wantsField() && reserved[word] && !planned[word] {
		return "`" + p.tok.Text + "` is a keyword in expressions; the field of that name is written in backquotes"
	}
	if p.expected.hasClass("string") {
		return "a string stands in quotes: '..'"
	}
	if p.listHint != "" && p.expected.hasClass(",") {
		return p.hintInList(word)
	}
	if !p.hides() {
		if foreign := p.hintForForeign(word); foreign != "" {
			return foreign
		}
	}
	if near := p.near(word); near != "" {
		return "did you mean `" + near + "`?"
	}
	if p.offered[word] {
		return "clauses have a fixed order and stand at most once: " + word + " would have to stand earlier"
	}
	if p.advice != "" {
		return p.advice
	}
	if p.swallowedName() {
		return "is the name missing? `" + p.name + "` was read as the name"
	}
	return p.hintForClass()
}

var ifHints = map[string]string{
	"NOT":    "IF NOT EXISTS stands directly after CREATE",
	"EXISTS": "DROP has no IF EXISTS; dropping what does not exist is an error",
}

// near is the keyword a word was probably meant to be. A reserved word is no slip of the pen.
func (p *parser) near(word string) string {
	if reserved[word] {
		return ""
	}
	return nearest(word, p.expected.words())
}

// hintInList advises inside a list of declarations, where any word may be the next name.
func (p *parser) hintInList(word string) string {
	if near := p.near(word); near != "" {
		return "did you mean `" + near + "`?"
	}
	return p.listHint
}

// hintForForeign knows words of other languages and of later versions of this one.
func (p *parser) hintForForeign(word string) string {
	switch {
	case p.expected.hasGroup(groupType) && foreignTypes[word] != "":
		return foreignTypes[word]
	case p.expected.hasGroup(groupOperator) && foreignOperators[word] != "":
		return foreignOperators[word]
	case p.expected.hasClass("DOMAIN") && foreignStatements[word] != "", p.expected.hasClass("CREATE") && foreignStatements[word] != "":
		return foreignStatements[word]
	case p.expected.hasClass("CLUSTER STATUS") && notShown[word] != "":
		return notShown[word]
	case planned[word]:
		return "`" + word + "` is not part of this version of the language"
	}
	return ""
}

// hintForClass explains what is expected when nothing is known about what was found.
func (p *parser) hintForClass() string {
	switch {
	case p.expected.hasGroup(groupType):
		return typeHint
	case p.expected.hasClass("constant"):
		return "only constants may stand here: numbers, strings, TRUE, FALSE, and casts of these"
	}
	return ""
}

const typeHint = "types are U8 to U64, I8 to I64, F32, F64, BOOL, STRING and DATETIME"

func (p *parser) wantsField() bool {
	return p.expected.hasClass("field") || p.expected.hasGroup(groupExpression)
}

func (p *parser) expectsName() bool {
	for _, e := range p.expected {
		if e.group == groupClass && strings.HasSuffix(e.text, "name") {
			return true
		}
	}
	return false
}

// swallowedName notices `CREATE RELAY SCHEMA s`: the keyword that is expected now was read as the name.
func (p *parser) swallowedName() bool {
	if p.name == "" {
		return false
	}
	for _, w := range p.expected.words() {
		if strings.EqualFold(w, p.name) {
			return true
		}
	}
	return false
}

func (p *parser) hintForSign() string {
	switch {
	case p.tok.Kind == lex.String && p.expectsName():
		return "names stand without quotes, or in backquotes"
	case p.tok.Kind == lex.String && p.expected.hasClass("field"):
		return "field names stand without quotes, or in backquotes"
	case p.tok.Kind == lex.Sign && strings.Contains(")]};", p.tok.Text) && p.afterComma():
		return "a list does not end with a comma"
	case p.swallowedName():
		return "is the name missing? `" + p.name + "` was read as the name"
	case p.tok.Kind == lex.Int && p.expected.hasClass("duration"):
		return "a duration needs a unit: ns, us, ms, s, m, h or d"
	case p.tok.Kind == lex.Int && p.expected.hasClass("size"):
		return "a size needs a unit: B, KB, KiB, MB, MiB, GB, GiB, TB or TiB"
	case p.tok.Kind == lex.Exponent && p.expected.hasGroup(groupExpression):
		return "numbers in expressions have no exponent: write the digits, or '" + p.tok.Text + "' AS F64"
	case p.tok.Kind == lex.Duration && p.expected.hasGroup(groupExpression):
		return "expressions have no durations"
	}
	if p.advice != "" {
		return p.advice
	}
	return p.hintForClass()
}

func (p *parser) afterComma() bool {
	return p.end > 0 && p.src[p.end-1] == ','
}
