// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"fmt"

	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/protocol"
)

// checks are all questions in their order. Names are stable; a new check goes to the end of its group.
func checks() []check {
	return []check{
		{"module.imports", "imports nothing but the host's three functions", reqs("W-001", "W-034"), needsModule, holds},
		{"module.exports", "exports the memory, the thirteen functions, and the error channel whole or not at all", reqs("W-035", "W-095"), needsModule, holds},
		{"module.instantiates", "an instance begins, with domain time in the past and in the future", reqs("W-015", "W-026"), needsModule, instantiates},

		{"init.accepted", "an init payload is accepted, or refused by an answer below 0", reqs("W-046", "W-058"), needsModule, initAccepted},
		{"init.unbranched", "both a branched and an unbranched processor are served", reqs("W-054", "W-055"), needsGuest, initUnbranched},
		{"init.domain_type", "the text of the domain type does not matter", reqs("W-053"), needsGuest, initDomainType},
		{"init.mismatch", "schemas the guest cannot serve are refused by init, not later", reqs("W-058", "W-245"), needsGuest, initMismatch},
		{"init.damaged", "a payload that is damaged or of another kind is refused", reqs("W-059", "W-060", "W-112", "W-113", "W-115"), needsGuest, initDamaged},
		{"init.first", "batch, flush, save and restore before init are refused, or do nothing", reqs("W-245"), needsGuest, initFirst},

		{"buffer.alloc", "nervix_alloc makes the buffer that large and answers where it begins", reqs("W-039", "W-303"), needsGuest, bufferAlloc},
		{"buffer.negative", "nervix_alloc of a negative size is answered below 0", reqs("W-303"), needsGuest, bufferNegative},
		{"buffer.ranges", "ranges that do not lie inside the buffer are answered below 0", reqs("W-045"), needsGuest, bufferRanges},
		{"buffer.reused", "asking for a size again and again takes no more memory", reqs("W-002"), needsGuest, bufferReused},

		{"batch.rows", "batches of 1 to 8192 rows and none give valid output", reqs("W-061", "W-062", "W-109"), needsGuest, batchRows},
		{"batch.edges", "the least, greatest, empty and odd values of every type give valid output", reqs("W-056", "W-057"), needsGuest, batchEdges},
		{"batch.text", "a row larger than all before gives valid output", reqs("W-042"), needsGuest, batchText},
		{"batch.damaged", "a message that is damaged or of another kind is refused, and the guest goes on", reqs("W-060", "W-112", "W-113", "W-115"), needsGuest, batchDamaged},
		{"batch.drained", "nervix_read_emit answers 0 when nothing waits", reqs("W-079"), needsGuest, batchDrained},

		{"tokens.settled", "after a flush every input was carried or decided", reqs("W-091", "W-106", "W-123"), needsGuest, tokensSettled},
		{"tokens.whole", "a row with several tokens is handed on with all of them", reqs("W-307"), needsGuest, tokensWhole},
		{"flush.twice", "a second flush emits nothing", reqs("W-240"), needsGuest, flushTwice},

		{"timeout.delivered", "timeouts the guest asked for can be delivered", reqs("W-233", "W-235", "W-236"), needsGuest, timeoutDelivered},
		{"timeout.unknown", "a handle that was never issued does no harm", reqs("W-238"), needsGuest, timeoutUnknown},

		{"state.dump", "a save can be had at any time, is at most 64 MiB, and changes nothing", reqs("W-028", "W-116", "W-120"), needsGuest, stateDump},
		{"state.round_trip", "what was saved is restored, and saving gives the same bytes again", reqs("W-117", "W-124"), needsGuest, stateRoundTrip},
		{"state.continues", "an instance that was restored goes on like the one that was saved", reqs("W-116", "W-122"), needsGuest, stateContinues},
		{"state.transient", "saved state holds no tokens", reqs("W-102", "W-121"), needsGuest, stateTransient},
		{"state.empty", "a guest that has seen nothing saves state that it restores", reqs("W-310"), needsGuest, stateEmpty},
		{"state.damaged", "saved state that was cut, extended or overwritten is not taken", reqs("W-029", "W-124"), needsGuest, stateDamaged},
		{"state.foreign", "saved state of another branch, schema or domain type is not taken", reqs("W-053", "W-124"), needsGuest, stateForeign},
		{"state.domain", "saved state is taken in a domain of another name", reqs("W-125"), needsGuest, stateDomain},
		{"state.verdict", "a refusal of saved state is answered -7 or -8", reqs("W-029", "W-129"), needsGuest, stateVerdict},

		{"cost.same", "the same calls cost the same fuel and give the same output on each instance", reqs("W-301"), needsGuest, costSame},
		{"cost.memory", "memory stays where it is over 300 equal batches", reqs("W-008"), needsGuest, costMemory},

		{"job.init", "the reference job refuses other schemas, with its reasons", reqs("W-245"), needsJob, jobInit},
		{"job.examples", "the examples of the page come out as written", reqs("W-093", "W-103", "W-305"), needsJob, jobExamples},
		{"job.model", "400 random calls come out as those of a model of the page", reqs("W-075", "W-092", "W-093", "W-305"), needsJob, jobModelCheck},
		{"job.failures", "!fail, !report and !trap fail the operation and leave nothing behind", reqs("W-096", "W-097", "W-100"), needsJob, jobFailures},
		{"job.state", "the state has the bytes of the page, and wrong bytes are refused with its reasons", reqs("W-121", "W-310"), needsJob, jobState},
	}
}

func reqs(ids ...string) []string { return ids }

// holds is the check of something that was seen before the checks began.
func holds(*kit) error { return nil }

func plain(err error) string { return protocol.Plain(err) }

func fail(format string, args ...any) error { return fmt.Errorf(format, args...) }

// instantiates begins instances at several times; some toolchains read the clock when they start.
func instantiates(k *kit) error {
	for _, now := range []int64{1, begin, 1 << 62} {
		i, err := k.module.Instantiate(k.spec, logical(now))
		if err != nil {
			return fail("at domain time %d: %w", now, err)
		}
		if err := i.Close(); err != nil {
			return err
		}
	}
	return nil
}

// settled says whether err is a refusal by an answer below 0, as it should be; what names what was refused.
func settled(err error, what string) error {
	f, ok := refused(err)
	switch {
	case err == nil:
		return fail("%s is accepted", what)
	case !ok:
		return fail("%s does not lead to an answer: %w", what, err)
	case f.Export == engine.Alloc:
		return fail("%s: %w", what, err)
	}
	return nil
}
