// SPDX-License-Identifier: Apache-2.0
//
// A guest for tests of the header. The text of a batch's first row says what to do with the batch.
#define NERVIX_GUEST_IMPLEMENTATION
#include "../nervix_guest.h"

static int32_t filtered, mapped;
static nv_held held;
static nv_buffer texts; // copies: length and bytes of each held row

static int32_t create(const nv_init *init) {
  (void)init;
  NV_TRY(nv_require_input("text STRING, number I64 OPTIONAL"));
  NV_TRY(filtered = nv_require_output("filtered", "text STRING"));
  NV_TRY(mapped = nv_require_output("mapped", "text STRING, twice I64, note STRING OPTIONAL"));
  return NV_OK;
}

static bool even(const nv_batch *batch, uint32_t row, void *context) {
  (void)context;
  const nv_column *number = &batch->columns[1];
  return !nv_is_null(number, row) && nv_i64(number, row) % 2 == 0;
}

static nv_verdict twice(const nv_batch *batch, uint32_t row, void *context) {
  const nv_column *number = &batch->columns[1];
  if (nv_is_null(number, row)) return nv_acked();
  int64_t n = nv_i64(number, row);
  if (n < 0) return nv_nacked(nv_format("row %u is %D", row, n));
  if (n > 100) return nv_errored(nv_format("row %u is too large", row));
  nv_put_i64((nv_generated *)context, 2 * n);
  return nv_carried();
}

static bool lent(const void *p, uint32_t size) {
  const uint8_t *at = (const uint8_t *)p;
  return at >= nv__buffer.data && at + size <= nv__buffer.data + nv__buffer.capacity;
}

// Reads everything of a batch and fails if anything of it is not a slice of the input buffer, or was allocated.
static int32_t slices(const nv_batch *batch) {
  uint8_t *top = nv__top;
  for (uint32_t i = 0; i < batch->rows; i++) {
    nv_text t = nv_string(&batch->columns[0], i);
    nv_entry e = nv_entry_of(batch, i);
    if (!lent(t.data, t.size) || !lent(e.tokens, 8 * e.count) || !lent(batch->columns[1].values + 8 * i, 8)) return nv_fail("an accessor does not give a slice of the buffer");
  }
  return nv__top == top ? NV_OK : nv_fail("an accessor allocates");
}

static nv_route *text_route(nv_output *out) {
  nv_route *route = nv_route_to(out, filtered);
  nv_from_input(route, 0);
  return route;
}

// One output with one mistake of its author each.
static int32_t wrong(const nv_batch *batch, nv_text how) {
  nv_output *out = nv_output_new();
  nv_route *route = nv_route_to(out, mapped);
  nv_generated *g = nv_generate(out, mapped, "twice");
  nv_entry e = nv_entry_of(batch, 0);
  nv_from_input(route, 0);
  if (nv_text_equal(how, nv_text_of("wrong: fewer columns"))) nv_from_generated(route, g);
  else if (nv_text_equal(how, nv_text_of("wrong: more columns"))) {
    for (int i = 0; i < 4; i++) nv_from_nothing(route);
  } else if (nv_text_equal(how, nv_text_of("wrong: type"))) {
    nv_from_input(route, 1);
    nv_from_nothing(route);
  } else if (nv_text_equal(how, nv_text_of("wrong: unused"))) {
    nv_from_nothing(route);
    nv_from_nothing(route);
  } else {
    nv_from_generated(route, g);
    nv_from_nothing(route);
  }
  if (nv_text_equal(how, nv_text_of("wrong: value"))) nv_put_f64(g, 1);
  if (nv_text_equal(how, nv_text_of("wrong: null"))) nv_put_null(g);
  if (nv_text_equal(how, nv_text_of("wrong: list"))) nv_put_list(g);
  if (nv_text_equal(how, nv_text_of("wrong: rows"))) nv_put_i64(g, 1), nv_put_i64(g, 2);
  if (nv_text_equal(how, nv_text_of("wrong: source"))) e.has_source = false, nv_put_i64(g, 1);
  if (nv_text_equal(how, nv_text_of("wrong: input"))) nv_from_input(route, 7);
  nv_carry(route, e);
  if (nv_text_equal(how, nv_text_of("wrong: same"))) nv_carry_same(route, route);
  return nv_emit(out);
}

static int32_t hold(const nv_batch *batch) {
  for (uint32_t i = 0; i < batch->rows; i++) {
    nv_text t = nv_string(&batch->columns[0], i);
    nv_hold(&held, nv_entry_of(batch, i));
    nv_append(&texts, &t.size, 4);
    nv_append(&texts, t.data, t.size);
  }
  return NV_OK;
}

static int32_t flush(void) {
  uint32_t at = 0, n = nv_held_count(&held);
  if (!n) return NV_OK;
  nv_output *out = nv_output_new();
  nv_route *route = nv_route_to(out, mapped);
  nv_generated *count = nv_generate(out, mapped, "twice"), *note = nv_generate(out, mapped, "note");
  nv_from_input(route, 0);
  nv_from_generated(route, count);
  nv_from_generated(route, note);
  for (uint32_t i = 0; i < n; i++) {
    nv_text t;
    __builtin_memcpy(&t.size, texts.data + at, 4);
    t.data = (const char *)texts.data + at + 4;
    at += 4 + t.size;
    nv_carry(route, nv_held_entry(&held, i));
    nv_put_i64(count, (int64_t)i);
    nv_put_string(note, t);
  }
  nv_held_clear(&held);
  texts.size = 0;
  return nv_emit(out);
}

static int32_t process_batch(const nv_batch *batch) {
  if (!batch->rows) return NV_OK;
  NV_TRY(slices(batch));
  nv_text mode = nv_string(&batch->columns[0], 0);
  if (nv_text_equal(mode, nv_text_of("hold"))) return hold(batch);
  if (mode.size > 6 && nv__same(mode.data, "wrong:", 6)) return wrong(batch, mode);
  if (nv_text_equal(mode, nv_text_of("panic"))) nv_panic("the probe panics at %s %d of %u%%", "row", -1, batch->rows);
  if (nv_text_equal(mode, nv_text_of("row"))) (void)nv_i64(&batch->columns[1], batch->rows);
  if (nv_text_equal(mode, nv_text_of("kind"))) (void)nv_f64(&batch->columns[1], 0);
  if (nv_text_equal(mode, nv_text_of("grow"))) nv_allocate(40000000);
  nv_output *out = nv_output_new();
  if (nv_text_equal(mode, nv_text_of("map"))) {
    nv_generated *g = nv_generate(out, mapped, "twice");
    nv_route *route = nv_route_to(out, mapped);
    nv_from_input(route, 0);
    nv_from_generated(route, g);
    nv_from_nothing(route);
    nv_map(route, batch, twice, g);
    return nv_emit(out);
  }
  nv_route *route = text_route(out);
  if (nv_text_equal(mode, nv_text_of("filter"))) nv_filter(route, batch, even, NULL);
  else if (nv_text_equal(mode, nv_text_of("again"))) { // all rows, the first once more, and all of them once more
    nv_carry_all(route, batch);
    nv_carry(route, nv_entry_of(batch, 0));
    nv_carry_all(route, batch);
  } else nv_carry_all(route, batch);
  NV_TRY(nv_emit(out));
  if (nv_text_equal(mode, nv_text_of("late failure"))) return nv_fail("the probe fails behind its output");
  if (nv_text_equal(mode, nv_text_of("plain failure"))) return -77;
  if (nv_text_equal(mode, nv_text_of("positive"))) return 5;
  if (nv_text_equal(mode, nv_text_of("late report"))) nv_report_global_error("the probe reports behind its output");
  if (nv_text_equal(mode, nv_text_of("reset")) && !nv_request_reset()) return nv_fail("the host refuses the reset");
  return NV_OK;
}

static int32_t save_state(nv_writer *state) {
  nv_write_u8(state, 200);
  nv_write_u32(state, 4000000000u);
  nv_write_u64(state, 0xfedcba9876543210u);
  nv_write_i64(state, INT64_MIN);
  nv_write_f64(state, -0.5);
  nv_write_time(state, nv_time_at(nv_seconds(-1)));
  nv_bytes none = {NULL, 0};
  nv_write_bytes(state, none);
  nv_write_text(state, nv_text_of("text"));
  return NV_OK;
}

static int32_t restore(nv_reader *state) {
  bool right = nv_read_u8(state) == 200 && nv_read_u32(state) == 4000000000u && nv_read_u64(state) == 0xfedcba9876543210u && nv_read_i64(state) == INT64_MIN;
  right = right && nv_read_f64(state) == -0.5 && nv_time_equal(nv_read_time(state), nv_time_at(nv_milliseconds(-1000)));
  right = right && nv_read_bytes(state).size == 0 && nv_text_equal(nv_read_text(state), nv_text_of("text"));
  NV_TRY(nv_read_end(state));
  return right ? NV_OK : -1;
}

// Durations and instants stop at the ends of their range.
static bool time_holds(void) {
  nv_time least = nv_time_at(nv_nanoseconds(INT64_MIN)), greatest = nv_time_at(nv_nanoseconds(INT64_MAX)), epoch = nv_time_at(nv_seconds(0));
  return nv_in_nanoseconds(nv_seconds(2)) == 2000000000 && nv_in_nanoseconds(nv_seconds(INT64_MAX)) == INT64_MAX &&
         nv_in_nanoseconds(nv_milliseconds(INT64_MIN)) == INT64_MIN && nv_time_equal(nv_time_add(greatest, nv_seconds(1)), greatest) &&
         nv_time_equal(nv_time_add(least, nv_seconds(-1)), least) && nv_in_nanoseconds(nv_time_between(least, greatest)) == INT64_MAX &&
         nv_in_nanoseconds(nv_time_between(greatest, least)) == INT64_MIN && nv_time_before(least, epoch) && !nv_time_before(epoch, epoch) &&
         nv_in_nanoseconds(nv_since_epoch(nv_time_add(epoch, nv_seconds(-3)))) == -3000000000;
}

static int32_t on_timeout(nv_timeout t) {
  (void)t;
  return time_holds() ? NV_OK : nv_fail("arithmetic of time is wrong");
}

const nv_guest nervix_guest = {create, process_batch, on_timeout, flush, save_state, restore};
