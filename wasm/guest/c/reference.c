// SPDX-License-Identifier: Apache-2.0
//
// The reference job of wasm/guest/reference.md; section numbers are those of that page.
#define NERVIX_GUEST_IMPLEMENTATION
#include "nervix_guest.h"

// The mark by which the conformance kit knows the job.
__attribute__((export_name("nervix_reference_job_1"))) int32_t nervix_reference_job_1(void) { return 1; }

enum { SENSOR, VALUE, AT };
enum verdict { KEPT, DROPPED, REFUSED, FAILED };

// One accepted row; its entry has the same place in `entries`, its label lies in `labels`.
typedef struct row {
  uint64_t ordinal;
  enum verdict verdict;
  uint32_t label, label_size;
} row;

// Section 2. seen is the saved state, all else is gone with the instance.
static uint64_t seen;
static nv_held entries;
static nv_buffer rows, labels;
static uint32_t batches;
static nv_timeout armed;

static int32_t kept, audit;

static int32_t output_named(const nv_init *init, const char *relay, const char *fields) {
  for (uint32_t i = 0; i < init->output_count; i++) {
    if (nv_text_equal(init->outputs[i].name, nv_text_of(relay)) && nv_schema_is(&init->outputs[i], fields)) return (int32_t)i;
  }
  return -1;
}

// Section 1.
static int32_t create(const nv_init *init) {
  if (!nv_schema_is(&init->input, "sensor STRING, value I64 OPTIONAL, at DATETIME")) return nv_fail("the input schema is not that of the reference job");
  kept = output_named(init, "kept", "sensor STRING, value I64 OPTIONAL, at DATETIME, ordinal I64");
  audit = output_named(init, "audit", "ordinal I64, label STRING, branch STRING OPTIONAL, released DATETIME, note STRING OPTIONAL");
  if (init->output_count != 2 || kept < 0 || audit < 0) return nv_fail("the outputs are not those of the reference job");
  return NV_OK;
}

// Section 4.
static int32_t release(void) {
  uint32_t n = nv_held_count(&entries);
  if (!n) return NV_OK;
  const nv_init *init = nv_the_init();
  nv_output *out = nv_output_new();
  nv_generated *ordinal = nv_generate(out, audit, "ordinal"), *label = nv_generate(out, audit, "label");
  nv_generated *branch = nv_generate(out, audit, "branch"), *released = nv_generate(out, audit, "released");
  nv_route *to_kept = nv_route_to(out, kept), *to_audit = nv_route_to(out, audit);
  nv_from_input(to_kept, SENSOR);
  nv_from_input(to_kept, VALUE);
  nv_from_input(to_kept, AT);
  nv_from_generated(to_kept, ordinal);
  nv_from_generated(to_audit, ordinal);
  nv_from_generated(to_audit, label);
  nv_from_generated(to_audit, branch);
  nv_from_generated(to_audit, released);
  nv_from_nothing(to_audit);
  for (uint32_t i = 0; i < n; i++) {
    const row *r = (const row *)(const void *)rows.data + i;
    nv_entry e = nv_held_entry(&entries, i);
    switch (r->verdict) {
    case KEPT: {
      nv_text text = {(const char *)labels.data + r->label, r->label_size};
      nv_carry(to_kept, e);
      nv_put_i64(ordinal, (int64_t)r->ordinal);
      nv_put_string(label, text);
      if (init->branched) nv_put_string(branch, init->branch_key);
      else nv_put_null(branch);
      nv_put_datetime(released, nv_now());
      break;
    }
    case DROPPED: nv_ack(to_kept, e); break;
    case REFUSED: nv_nack(to_kept, e, nv_format("row %U has no sensor", r->ordinal)); break;
    case FAILED: nv_message_error(to_kept, e, nv_format("value of row %U is negative", r->ordinal)); break;
    }
  }
  nv_carry_same(to_audit, to_kept);
  nv_held_clear(&entries);
  rows.size = labels.size = 0;
  batches = 0;
  armed = nv_no_timeout();
  return nv_emit(out);
}

static bool is(nv_text t, const char *s) { return nv_text_equal(t, nv_text_of(s)); }

static void accept(const nv_batch *batch, uint32_t i) {
  nv_text sensor = nv_string(&batch->columns[SENSOR], i);
  row *r = (row *)nv_extend(&rows, sizeof *r);
  r->ordinal = seen++;
  r->verdict = DROPPED;
  if (!sensor.size) r->verdict = REFUSED;
  else if (!nv_is_null(&batch->columns[VALUE], i) && nv_i64(&batch->columns[VALUE], i) < 0) r->verdict = FAILED;
  else if (r->ordinal % 2 == 0) {
    nv_text label = nv_format("%t#%U", sensor, r->ordinal);
    r->verdict = KEPT;
    r->label = labels.size;
    r->label_size = label.size;
    nv_append(&labels, label.data, label.size);
  }
  nv_hold(&entries, nv_entry_of(batch, i));
}

// Section 3.
static int32_t process_batch(const nv_batch *batch) {
  for (uint32_t i = 0; i < batch->rows; i++) {
    nv_text sensor = nv_string(&batch->columns[SENSOR], i);
    if (!sensor.size || sensor.data[0] != '!') continue;
    if (is(sensor, "!fail")) return nv_fail("row %u of the batch asks for a failure", i);
    if (is(sensor, "!trap")) __builtin_trap();
    if (is(sensor, "!report")) {
      nv_report_global_error("row %u of the batch reports an error", i);
      return NV_OK;
    }
  }
  if (!batch->rows) return NV_OK;
  if (!nv_held_count(&entries)) armed = nv_after(nv_seconds(1));
  for (uint32_t i = 0; i < batch->rows; i++) accept(batch, i);
  return ++batches == 3 ? release() : NV_OK;
}

// Section 5.
static int32_t on_timeout(nv_timeout timeout) { return nv_timeout_set(armed) && nv_timeout_equal(armed, timeout) ? release() : NV_OK; }

static int32_t save_state(nv_writer *state) {
  nv_write_u8(state, 1);
  nv_write_u64(state, seen);
  return NV_OK;
}

static int32_t restore(nv_reader *state) {
  if (state->state.size != 9) return nv_fail("the state has %u bytes instead of 9", state->state.size);
  uint8_t version = nv_read_u8(state);
  if (version != 1) return nv_fail("the state has version %u instead of 1", (uint32_t)version);
  seen = nv_read_u64(state);
  return NV_OK;
}

const nv_guest nervix_guest = {create, process_batch, on_timeout, release, save_state, restore};
