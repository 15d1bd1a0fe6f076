// SPDX-License-Identifier: Apache-2.0
//
// Counts the rows of its branch and keeps the mean of the last seven temperatures. One instance is one branch, so static variables are the
// state of that branch, and what save_state writes is what a successor goes on from.
//
//   input   any schema with the fields  location STRING, date DATETIME, temp_max F64
//   output  one relay with exactly      location STRING, date DATETIME, temp_max F64, days I64, mean F64
#define NERVIX_GUEST_IMPLEMENTATION
#include "nervix_guest.h"

enum { WINDOW = 7 };

// The state: how many rows were counted, and the last values as a ring.
static int64_t days;
static double ring[WINDOW];

static int32_t location, date, temp_max; // columns of the input

static int32_t create(const nv_init *init) {
  NV_TRY(location = nv_require_field(&init->input, "location", "STRING"));
  NV_TRY(date = nv_require_field(&init->input, "date", "DATETIME"));
  NV_TRY(temp_max = nv_require_field(&init->input, "temp_max", "F64"));
  if (init->output_count != 1) return nv_fail("this guest writes to one relay, the processor has %u", init->output_count);
  if (!nv_schema_is(&init->outputs[0], "location STRING, date DATETIME, temp_max F64, days I64, mean F64")) {
    return nv_fail("the relay needs the fields location STRING, date DATETIME, temp_max F64, days I64, mean F64");
  }
  return NV_OK;
}

// Takes a value into the state and gives the mean of those in the ring. They are added from the oldest on, so that an instance that was
// restored gives the same sum as one that was not.
static double count(double value) {
  ring[days % WINDOW] = value;
  days++;
  int64_t n = days < WINDOW ? days : WINDOW;
  double sum = 0;
  for (int64_t i = days - n; i < days; i++) sum += ring[i % WINDOW];
  return sum / (double)n;
}

struct columns {
  nv_generated *days, *mean;
};

// One row: a reading that cannot be is an error of that message and is not counted.
static nv_verdict reading(const nv_batch *batch, uint32_t row, void *context) {
  struct columns *generated = (struct columns *)context;
  double value = nv_f64(&batch->columns[temp_max], row);
  if (!(value > -90 && value < 60)) return nv_errored(nv_format("no place on earth was ever that hot or cold"));
  nv_put_f64(generated->mean, count(value));
  nv_put_i64(generated->days, days);
  return nv_carried();
}

static int32_t process_batch(const nv_batch *batch) {
  nv_output *out = nv_output_new();
  struct columns generated;
  generated.days = nv_generate(out, 0, "days");
  generated.mean = nv_generate(out, 0, "mean");
  nv_route *route = nv_route_to(out, 0);
  nv_from_input(route, (uint32_t)location); // the host has these values: they are named, not copied
  nv_from_input(route, (uint32_t)date);
  nv_from_input(route, (uint32_t)temp_max);
  nv_from_generated(route, generated.days);
  nv_from_generated(route, generated.mean);
  nv_map(route, batch, reading, &generated);
  return nv_emit(out);
}

static int32_t save_state(nv_writer *state) {
  nv_write_u8(state, 1); // the version of this layout
  nv_write_i64(state, days);
  for (int i = 0; i < WINDOW; i++) nv_write_f64(state, ring[i]);
  return NV_OK;
}

static int32_t restore(nv_reader *state) {
  if (nv_read_u8(state) != 1) return nv_fail("the state is of another version of this guest");
  days = nv_read_i64(state);
  for (int i = 0; i < WINDOW; i++) ring[i] = nv_read_f64(state);
  if (days < 0) return nv_fail("the count in the state is negative");
  return nv_read_end(state);
}

const nv_guest nervix_guest = {create, process_batch, NULL, NULL, save_state, restore};
