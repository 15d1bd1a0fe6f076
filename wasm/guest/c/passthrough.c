// SPDX-License-Identifier: Apache-2.0
//
// The least guest: every row goes on as it came. Columns are named, not copied. If the output has one field more than the input, it is an
// I64 that the guest generates: the number of the row in its batch. Used for measurements.
#define NERVIX_GUEST_IMPLEMENTATION
#include "nervix_guest.h"

static bool numbered;

static int32_t create(const nv_init *init) {
  const nv_schema *in = &init->input, *out = init->outputs;
  if (init->output_count != 1 || (out->count != in->count && out->count != in->count + 1)) return nv_fail("one output with the fields of the input is needed, and perhaps an I64 behind them");
  for (uint32_t i = 0; i < in->count; i++) {
    if (!nv_field_fits(&in->fields[i], &out->fields[i])) return nv_fail("field %t of the output does not have the type of the input", out->fields[i].name);
  }
  numbered = out->count > in->count;
  if (numbered && (out->fields[in->count].type->kind != NV_I64 || out->fields[in->count].optional)) return nv_fail("the field behind those of the input has to be I64");
  return NV_OK;
}

static int32_t process_batch(const nv_batch *batch) {
  nv_output *out = nv_output_new();
  nv_route *route = nv_route_to(out, 0);
  for (uint32_t i = 0; i < batch->count; i++) nv_from_input(route, i);
  if (numbered) {
    nv_generated *number = nv_generate_at(out, 0, batch->count);
    int64_t *v = (int64_t *)nv_put_many(number, batch->rows, sizeof *v);
    for (uint32_t i = 0; i < batch->rows; i++) v[i] = i;
    nv_from_generated(route, number);
  }
  nv_carry_all(route, batch);
  return nv_emit(out);
}

const nv_guest nervix_guest = {create, process_batch, NULL, NULL, NULL, NULL};
