// SPDX-License-Identifier: Apache-2.0
//
// The first guest of docs/guests.md: readings of 30 degrees and more go on in Fahrenheit, with the number of hot readings so far.
#define NERVIX_GUEST_IMPLEMENTATION
#include "nervix_guest.h"

enum { SENSOR, CELSIUS, AT }; // the columns of the input

static int32_t hot;  // the number of the output
static int64_t seen; // hot readings of this branch: the state

static int32_t create(const nv_init *init) {
  (void)init;
  NV_TRY(nv_require_input("sensor STRING, celsius F64 OPTIONAL, at DATETIME"));
  NV_TRY(hot = nv_require_output("hot", "sensor STRING, at DATETIME, fahrenheit F64, seen I64"));
  return NV_OK;
}

static int32_t process_batch(const nv_batch *batch) {
  const nv_column *celsius = &batch->columns[CELSIUS];
  nv_output *out = nv_output_new();
  nv_generated *fahrenheit = nv_generate(out, hot, "fahrenheit"), *count = nv_generate(out, hot, "seen");
  nv_route *route = nv_route_to(out, hot);
  nv_from_input(route, SENSOR);           // one call for each field of the relay:
  nv_from_input(route, AT);               // these two stay with the host,
  nv_from_generated(route, fahrenheit);   // these two the guest makes
  nv_from_generated(route, count);
  for (uint32_t i = 0; i < batch->rows; i++) {
    nv_entry entry = nv_entry_of(batch, i);
    if (nv_is_null(celsius, i)) {
      nv_message_error(route, entry, nv_format("row %u has no temperature", i));
    } else if (nv_f64(celsius, i) < 30) {
      nv_ack(route, entry);
    } else {
      nv_carry(route, entry);
      nv_put_f64(fahrenheit, nv_f64(celsius, i) * 9 / 5 + 32);
      nv_put_i64(count, ++seen);
    }
  }
  return nv_emit(out);
}

static int32_t save_state(nv_writer *state) {
  nv_write_i64(state, seen);
  return NV_OK;
}

static int32_t restore(nv_reader *state) {
  seen = nv_read_i64(state);
  return nv_read_end(state);
}

const nv_guest nervix_guest = {create, process_batch, NULL, NULL, save_state, restore};
