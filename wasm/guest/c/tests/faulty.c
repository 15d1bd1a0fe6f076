// SPDX-License-Identifier: Apache-2.0
//
// A guest for tests of the conformance kit: the reference job with one fault, chosen by a byte of the module. The test writes the number of a fault
// behind the mark; 0 is a right guest.
#define NV__EXPORT(name) sdk_##name
#include "../reference.c"

static const volatile uint8_t mark[16] = "nervix-fault:";

#define FAULT(n) (mark[13] == (n))
#define EXPORT(name) __attribute__((export_name(#name))) name

enum fault {
  NONE, INIT_TRAPS, INIT_REFUSES, UNBRANCHED_FAILS, DOMAIN_TYPE_MATTERS, ANY_SCHEMA, DAMAGED_INIT_TAKEN, WORKS_BEFORE_INIT, CAPACITY_LIES,
  NEGATIVE_ALLOC, NEGATIVE_RANGE, FAR_RANGE_TRAPS, ALLOC_LEAKS, MANY_ROWS_FAIL, EDGE_TRAPS, LONG_TEXT_FAILS, DAMAGED_BATCH_TAKEN, DAMAGE_CHANGES_STATE,
  EMIT_NEVER_ENDS, TOKEN_LOST, TOKEN_TWICE, ENTRY_TORN, FLUSH_ALWAYS_EMITS, TIMEOUT_FAILS, UNKNOWN_HANDLE_TRAPS, SAVE_CHANGES, RESTORE_CHANGES,
  STATE_INCOMPLETE, STATE_HOLDS_TOKEN, EMPTY_STATE_REFUSED, ANY_STATE, OTHER_DOMAIN_REFUSED, NO_VERDICT, BATCHES_LEAK, JOB_REASON, JOB_ACKS,
  JOB_LABEL, FAILURE_CHANGES, JOB_VERSION, INVENTED_TOKEN, NAMED_COLUMN
};

static bool inited;

int32_t EXPORT(nervix_buffer_ptr)(void) { return sdk_nervix_buffer_ptr(); }
int32_t EXPORT(nervix_buffer_len)(void) { return sdk_nervix_buffer_len(); }
int32_t EXPORT(nervix_buffer_capacity)(void) { return sdk_nervix_buffer_capacity() / (FAULT(CAPACITY_LIES) ? 2 : 1); }

int32_t EXPORT(nervix_alloc)(int32_t size) {
  if (FAULT(ALLOC_LEAKS)) nv_allocate(1000);
  if (FAULT(NEGATIVE_ALLOC) && size < 0) return sdk_nervix_buffer_ptr();
  return sdk_nervix_alloc(size);
}

int32_t EXPORT(nervix_init)(int32_t ptr, int32_t size) {
  if (FAULT(INIT_TRAPS)) __builtin_trap();
  if (FAULT(INIT_REFUSES)) return NV_REJECTED;
  int32_t code = sdk_nervix_init(ptr, size);
  if (FAULT(DAMAGED_INIT_TAKEN) && code == NV_BAD_MESSAGE) {
    sdk_nervix_clear_global_error();
    return NV_OK;
  }
  if (FAULT(ANY_SCHEMA) && code == NV_REJECTED) {
    sdk_nervix_clear_global_error();
    kept = 0;
    audit = nv__init.output_count > 1;
    nv__ready = true;
    code = NV_OK;
  }
  if (FAULT(JOB_REASON) && code == NV_REJECTED) {
    sdk_nervix_clear_global_error();
    return nv_fail("no");
  }
  if (FAULT(DOMAIN_TYPE_MATTERS) && !nv_text_equal(nv__init.domain_type, nv_text_of("unpaced"))) return NV_REJECTED;
  inited = code == NV_OK;
  return code;
}

int64_t EXPORT(nervix_current_domain_time_nanos)(void) { return sdk_nervix_current_domain_time_nanos(); }

static void drop_last_entry(void) {
  entries.entries_.size -= (uint32_t)sizeof(nv__held_entry);
  rows.size -= (uint32_t)sizeof(row);
}

static void tamper(void) {
  if (!nv_held_count(&entries)) return;
  uint64_t *token = (uint64_t *)(void *)entries.tokens_.data;
  nv__held_entry *first = (nv__held_entry *)(void *)entries.entries_.data;
  if (FAULT(TOKEN_LOST)) drop_last_entry();
  if (FAULT(ENTRY_TORN) && first->count > 1) first->count = 1;
  if (FAULT(TOKEN_TWICE) && nv_held_count(&entries) > 1) {
    first[1] = first[0];
    ((row *)(void *)rows.data)[1].verdict = DROPPED;
    ((row *)(void *)rows.data)[0].verdict = DROPPED;
  }
  if (FAULT(INVENTED_TOKEN)) token[0] += 1000000;
  if (FAULT(JOB_LABEL) && labels.size) labels.data[labels.size - 2] = ':';
  if (FAULT(JOB_ACKS)) ((row *)(void *)rows.data)->verdict = KEPT;
}

int32_t EXPORT(nervix_process_batch)(int32_t ptr, int32_t size) {
  if (FAULT(WORKS_BEFORE_INIT) && !inited) return NV_OK;
  if (FAULT(NEGATIVE_RANGE) && size < 0) return NV_OK;
  if (FAULT(FAR_RANGE_TRAPS) && nv__range(ptr, size)) __builtin_trap();
  if (FAULT(LONG_TEXT_FAILS) && size > 200000) return NV_REJECTED;
  uint64_t seen_before = seen;
  int32_t code = sdk_nervix_process_batch(ptr, size);
  if (FAULT(DAMAGED_BATCH_TAKEN) && code == NV_BAD_MESSAGE) {
    sdk_nervix_clear_global_error();
    return NV_OK;
  }
  if (FAULT(DAMAGE_CHANGES_STATE) && (code == NV_BAD_MESSAGE || code == NV_BAD_BATCH)) seen++;
  if (FAULT(FAILURE_CHANGES) && code == NV_REJECTED) seen++;
  if (FAULT(MANY_ROWS_FAIL) && seen - seen_before > 5000) return NV_REJECTED;
  if (FAULT(UNBRANCHED_FAILS) && !nv__init.branched) return NV_REJECTED;
  if (FAULT(BATCHES_LEAK)) nv_allocate(4000);
  if (FAULT(EDGE_TRAPS) && nv__columns[VALUE].rows && code == NV_OK) {
    for (uint32_t i = 0; i < nv__columns[VALUE].rows; i++) {
      if (nv_i64(&nv__columns[VALUE], i) == INT64_MIN) __builtin_trap();
    }
  }
  if (code == NV_OK) tamper();
  return code;
}

int32_t EXPORT(nervix_on_timeout)(int64_t handle) {
  if (FAULT(TIMEOUT_FAILS) && handle == armed.handle_) return NV_REJECTED;
  if (FAULT(UNKNOWN_HANDLE_TRAPS) && handle != armed.handle_) __builtin_trap();
  return sdk_nervix_on_timeout(handle);
}

int32_t EXPORT(nervix_flush)(void) {
  if (FAULT(WORKS_BEFORE_INIT) && !inited) __builtin_trap();
  int32_t code = sdk_nervix_flush();
  if (FAULT(FLUSH_ALWAYS_EMITS) && code == NV_OK && !nv__queue.size) {
    nv_output *out = nv_output_new();
    nv_route *route = nv_route_to(out, audit);
    for (int i = 0; i < 5; i++) nv_from_nothing(route);
    code = nv_emit(out);
  }
  return code;
}

int32_t EXPORT(nervix_read_emit)(void) {
  static int32_t reads;
  if (FAULT(EMIT_NEVER_ENDS) && ++reads % 3 == 0) return sdk_nervix_buffer_len() < 16 ? 0 : 16;
  int32_t size = sdk_nervix_read_emit();
  if (FAULT(NAMED_COLUMN)) {
    for (int32_t i = 0; i + 12 < size; i++) { // the text "+00:00" of the timestamp becomes another zone
      if (nv__same(nv__buffer.data + i, "+00:00", 6)) nv__buffer.data[i + 1] = '1';
    }
  }
  return size;
}

int32_t EXPORT(nervix_dump_state)(void) {
  if (FAULT(SAVE_CHANGES)) seen++;
  if (FAULT(STATE_INCOMPLETE)) {
    uint64_t all = seen;
    seen &= ~7ull;
    int32_t size = sdk_nervix_dump_state();
    seen = all;
    return size;
  }
  if (FAULT(STATE_HOLDS_TOKEN) && entries.tokens_.size) {
    uint64_t all = seen;
    seen = *(uint64_t *)(void *)entries.tokens_.data;
    int32_t size = sdk_nervix_dump_state();
    seen = all;
    return size;
  }
  int32_t size = sdk_nervix_dump_state();
  if (FAULT(JOB_VERSION) && size > 9) nv__buffer.data[size - 9] = 7;
  return size;
}

int32_t EXPORT(nervix_load_state)(int32_t ptr, int32_t size) {
  if (FAULT(OTHER_DOMAIN_REFUSED) && nv_text_equal(nv__init.domain_name, nv_text_of("renamed"))) return NV_BAD_SNAPSHOT;
  int32_t code = sdk_nervix_load_state(ptr, size);
  if (FAULT(EMPTY_STATE_REFUSED) && code == NV_OK && !seen) return NV_BAD_STATE;
  if (FAULT(RESTORE_CHANGES)) seen += 2;
  if (FAULT(NO_VERDICT) && code) return -1;
  if (FAULT(ANY_STATE) && code) {
    sdk_nervix_clear_global_error();
    return NV_OK;
  }
  return code;
}

int32_t EXPORT(nervix_reset_state)(void) { __builtin_trap(); } // the host never calls it
int32_t EXPORT(nervix_global_error_ptr)(void) { return sdk_nervix_global_error_ptr(); }
int32_t EXPORT(nervix_global_error_len)(void) { return sdk_nervix_global_error_len(); }
int32_t EXPORT(nervix_clear_global_error)(void) { return sdk_nervix_clear_global_error(); }
void EXPORT(_initialize)(void) { sdk__initialize(); }
