// SPDX-License-Identifier: Apache-2.0
//
// A guest for tests of the header: it reads every value of a batch and writes it again as a generated column, of whatever types. Real guests
// name input columns instead. One output with the fields of the input.
#define NERVIX_GUEST_IMPLEMENTATION
#include "../nervix_guest.h"

static int32_t create(const nv_init *init) {
  if (init->output_count != 1 || init->outputs->count != init->input.count) return nv_fail("one output with the fields of the input is needed");
  for (uint32_t i = 0; i < init->input.count; i++) {
    if (!nv_field_fits(&init->input.fields[i], &init->outputs->fields[i])) return nv_fail("field %t of the output does not have the type of the input", init->outputs->fields[i].name);
  }
  return NV_OK;
}

static void put(nv_generated *to, const nv_column *from, uint32_t row) {
  if (nv_is_null(from, row)) {
    nv_put_null(to);
    return;
  }
  switch (from->type->kind) {
  case NV_U8: nv_put_u8(to, nv_u8(from, row)); break;
  case NV_I8: nv_put_i8(to, nv_i8(from, row)); break;
  case NV_U16: nv_put_u16(to, nv_u16(from, row)); break;
  case NV_I16: nv_put_i16(to, nv_i16(from, row)); break;
  case NV_U32: nv_put_u32(to, nv_u32(from, row)); break;
  case NV_I32: nv_put_i32(to, nv_i32(from, row)); break;
  case NV_U64: nv_put_u64(to, nv_u64(from, row)); break;
  case NV_I64: nv_put_i64(to, nv_i64(from, row)); break;
  case NV_F32: nv_put_f32(to, nv_f32(from, row)); break;
  case NV_F64: nv_put_f64(to, nv_f64(from, row)); break;
  case NV_BOOL: nv_put_bool(to, nv_bool(from, row)); break;
  case NV_STRING: nv_put_string(to, nv_string(from, row)); break;
  case NV_BYTES: nv_put_binary(to, nv_binary(from, row)); break;
  case NV_DATETIME: {
    // Through the arithmetic and back: an instant survives it, whatever it is.
    nv_time t = nv_datetime(from, row), epoch = nv_time_at(nv_nanoseconds(0));
    nv_put_datetime(to, nv_time_add(epoch, nv_time_between(epoch, t)));
    break;
  }
  case NV_ARRAY: case NV_VEC: {
    nv_list l = nv_elements(from, row);
    nv_generated *elements = nv_put_list(to);
    for (uint32_t i = 0; i < l.count; i++) put(elements, from->element, l.first + i);
    break;
  }
  }
}

static int32_t process_batch(const nv_batch *batch) {
  nv_output *out = nv_output_new();
  nv_route *route = nv_route_to(out, 0);
  for (uint32_t c = 0; c < batch->count; c++) {
    nv_generated *g = nv_generate_at(out, 0, c);
    for (uint32_t i = 0; i < batch->rows; i++) put(g, &batch->columns[c], i);
    nv_from_generated(route, g);
  }
  for (uint32_t i = 0; i < batch->rows; i++) nv_carry(route, nv_entry_of(batch, i));
  return nv_emit(out);
}

const nv_guest nervix_guest = {create, process_batch, NULL, NULL, NULL, NULL};
