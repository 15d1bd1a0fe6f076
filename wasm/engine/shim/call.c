// SPDX-License-Identifier: Apache-2.0
//
// Instances and operations. Guest memory may move or grow in every guest call: its base is read again after each, and a range that the
// guest names is checked in 64 bits before anything is read or written through it.
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The instance this thread instantiates: the library creates memories during that call only and does not say for which store.
static _Thread_local nv_inst *instantiating;

static bool refuse(nv_inst *i, int why, uint64_t wanted) {
  if (!i->refused) {
    i->refused = (uint8_t)why;
    i->wanted = wanted;
  }
  return false;
}

struct guest_memory {
  nv_inst *inst;
  struct nv_mem *mem;
};

static uint8_t *get_memory(void *env, size_t *size, size_t *capacity) {
  return nv_mem_view(((struct guest_memory *)env)->mem, size, capacity);
}

// The sum of all memories stays below the ceiling of the store, whichever of them grows.
static wasmtime_error_t *grow_memory(void *env, size_t size) {
  struct guest_memory *g = env;
  nv_inst *i = g->inst;
  size_t have, capacity;
  nv_mem_view(g->mem, &have, &capacity);
  uint64_t wanted = i->linear + (size - have);
  int bad = wanted > i->ceiling ? NV_MEMORY_CEILING : nv_mem_grow(g->mem, size);
  if (bad) {
    refuse(i, bad, wanted);
    return wasmtime_error_new("linear memory refused");
  }
  i->linear = wanted;
  return NULL;
}

static void delete_memory(void *env) {
  struct guest_memory *g = env;
  nv_mem_delete(g->mem);
  free(g);
}

wasmtime_error_t *nv_create_memory(void *env, const wasm_memorytype_t *ty, size_t minimum, size_t maximum, size_t reserved, size_t guard,
                                   wasmtime_linear_memory_t *ret) {
  (void)ty, (void)maximum;
  nv_inst *i = instantiating;
  if (!i) return wasmtime_error_new("linear memory outside an instantiation");
  uint64_t wanted = i->linear + minimum;
  struct guest_memory *g = calloc(1, sizeof *g);
  int bad = !g ? NV_MEMORY_OS : wanted > i->ceiling ? NV_MEMORY_CEILING : nv_mem_new(env, minimum, reserved, guard, &g->mem);
  if (bad) {
    free(g);
    refuse(i, bad, wanted);
    return wasmtime_error_new("linear memory refused");
  }
  g->inst = i;
  i->linear = wanted;
  *ret = (wasmtime_linear_memory_t){g, get_memory, grow_memory, delete_memory};
  return NULL;
}

// Writes down why a call failed. A refused growth explains whatever the guest did next.
static bool failed(nv_inst *i, nv_res *r, int at, wasmtime_error_t *error, wasm_trap_t *trap) {
  r->at = at;
  r->trap = -1;
  r->status = NV_FAULT;
  if (trap) {
    uint8_t code;
    r->status = NV_TRAP;
    if (wasmtime_trap_code(trap, &code)) {
      r->trap = code;
      if (code == NV_TRAP_OUT_OF_FUEL) r->status = NV_FUEL;
      if (code == NV_TRAP_INTERRUPT) r->status = NV_EPOCH;
    }
    r->message = (uintptr_t)nv_trap_text(trap);
    if (error) wasmtime_error_delete(error);
  } else if (error) {
    r->message = (uintptr_t)nv_error_text(error);
  }
  if (i->refused) r->status = i->refused;
  return false;
}

// One guest call. v holds the arguments and then the result.
static bool call(nv_inst *i, nv_res *r, int export, wasmtime_val_raw_t *v, size_t n) {
  wasm_trap_t *trap = NULL;
  wasmtime_error_t *error = wasmtime_func_call_unchecked(i->ctx, &i->fn[export], v, n, &trap);
  if (error || trap) return failed(i, r, export, error, trap);
  r->at = export;
  if (i->refused) { // W-017: a refused growth ends the operation, also when the guest went on
    r->status = i->refused;
    return false;
  }
  return true;
}

static bool call_i32(nv_inst *i, nv_res *r, int export, int32_t *out) {
  wasmtime_val_raw_t v[1];
  memset(v, 0, sizeof v);
  if (!call(i, r, export, v, 1)) return false;
  *out = v[0].i32;
  return true;
}

// Gives the address of a guest range, or NULL and a status.
static uint8_t *range(nv_inst *i, nv_res *r, int64_t ptr, int64_t len) {
  uint8_t *base = wasmtime_memory_data(i->ctx, &i->memory);
  uint64_t size = wasmtime_memory_data_size(i->ctx, &i->memory);
  if (len >= 0 && (uint64_t)ptr + (uint64_t)len <= size) return base + ptr;
  r->status = NV_RANGE;
  r->lied_ptr = ptr;
  r->lied_len = len;
  return NULL;
}

static bool grant(nv_inst *i, const nv_req *q, nv_res *r) {
  wasmtime_val_raw_t v[1];
  memset(v, 0, sizeof v);
  v[0].i32 = (int32_t)q->alloc;
  if (!call(i, r, NV_ALLOC, v, 1)) return false;
  r->grant_ptr = (uint32_t)v[0].i32;
  r->grant_len = q->alloc;
  if (r->grant_ptr == 0 && q->alloc) {
    r->status = NV_NO_BUFFER;
    return false;
  }
  r->grant = (uintptr_t)range(i, r, r->grant_ptr, q->alloc);
  return r->grant != 0;
}

// Reads the global-error channel: its text is copied, because the clearing call that follows may move or reuse it.
static bool read_reason(nv_inst *i, nv_res *r) {
  if (!i->has_errors) return true;
  int at = r->at;
  int32_t len, ptr, answer;
  if (!call_i32(i, r, NV_ERROR_LEN, &len)) return false;
  if (len <= 0) {
    r->at = at;
    return true;
  }
  if (!call_i32(i, r, NV_ERROR_PTR, &ptr)) return false;
  uint8_t *text = range(i, r, (uint32_t)ptr, len);
  if (!text) return false;
  r->reason_cut = len > NV_MAX_REASON;
  r->reason_len = r->reason_cut ? NV_MAX_REASON : (uint32_t)len;
  if (!i->reason) i->reason = malloc(NV_MAX_REASON);
  if (!i->reason) r->reason_len = 0; else memcpy(i->reason, text, r->reason_len);
  r->reason = (uintptr_t)i->reason;
  if (!call_i32(i, r, NV_ERROR_CLEAR, &answer)) return false;
  r->at = at;
  return true;
}

// A guest that panics may have left its reason before it trapped. It is asked for it with what is left of fuel and time; whatever goes
// wrong then changes nothing. The text is not cleared: the instance goes.
static void last_words(nv_inst *i, nv_res *r) {
  nv_res asked = {0};
  int32_t len, ptr;
  if (!i->has_errors || !call_i32(i, &asked, NV_ERROR_LEN, &len) || len <= 0 || !call_i32(i, &asked, NV_ERROR_PTR, &ptr)) {
    free((void *)asked.message);
    return;
  }
  uint8_t *text = range(i, &asked, (uint32_t)ptr, len);
  if (!text || (!i->reason && !(i->reason = malloc(NV_MAX_REASON)))) return;
  r->reason_cut = len > NV_MAX_REASON;
  r->reason_len = r->reason_cut ? NV_MAX_REASON : (uint32_t)len;
  memcpy(i->reason, text, r->reason_len);
  r->reason = (uintptr_t)i->reason;
}

// The range the guest announced with a positive length.
static bool output(nv_inst *i, const nv_req *q, nv_res *r, int32_t len) {
  int32_t ptr;
  int at = r->at;
  if ((uint32_t)len > q->max_buffer) {
    r->status = NV_TOO_LARGE;
    r->lied_len = len;
    return false;
  }
  if (!call_i32(i, r, NV_BUFFER_PTR, &ptr)) return false;
  if (!(r->out = (uintptr_t)range(i, r, (uint32_t)ptr, len))) return false;
  r->at = at;
  r->out_ptr = (uint32_t)ptr;
  r->out_len = (uint32_t)len;
  return true;
}

static bool read_emit(nv_inst *i, const nv_req *q, nv_res *r) {
  int32_t len;
  if (!call_i32(i, r, NV_READ_EMIT, &len)) return false;
  r->code = len;
  r->done_emit = 1;
  if (!read_reason(i, r)) return false;
  return r->reason_len || len <= 0 || output(i, q, r, len);
}

static bool enter(nv_inst *i, const nv_req *q, nv_res *r) {
  if (q->entry == NV_READ_EMIT) return read_emit(i, q, r);
  wasmtime_val_raw_t v[2];
  memset(v, 0, sizeof v);
  size_t n = 1;
  if (q->entry == NV_ON_TIMEOUT) {
    v[0].i64 = q->a;
  } else if (q->entry == NV_INIT || q->entry == NV_PROCESS || q->entry == NV_LOAD) {
    v[0].i32 = (int32_t)(q->deliver ? r->grant_ptr : q->a);
    v[1].i32 = (int32_t)(q->deliver ? r->grant_len : q->b);
    n = 2;
  }
  if (!call(i, r, q->entry, v, n)) return false;
  r->code = v[0].i32;
  bool state = q->entry == NV_DUMP || q->entry == NV_LOAD;
  if ((!state || r->code < 0) && !read_reason(i, r)) return false;
  if (q->entry == NV_DUMP && r->code > 0) return output(i, q, r, (int32_t)r->code);
  bool emits = q->entry == NV_PROCESS || q->entry == NV_ON_TIMEOUT || q->entry == NV_FLUSH;
  if (emits && r->code == 0 && !r->reason_len) return read_emit(i, q, r);
  return true;
}

static void begin(nv_inst *i, const nv_req *q) {
  if (i->engine->fuel) {
    wasmtime_error_t *error = wasmtime_context_set_fuel(i->ctx, q->fuel);
    if (error) wasmtime_error_delete(error);
  }
  if (i->engine->epoch) wasmtime_context_set_epoch_deadline(i->ctx, q->ticks);
  i->now = q->now;
  i->next_handle = q->next_handle;
  i->allow = q->allow;
  i->reset = 0;
  i->ntimeouts = 0;
}

static void report(nv_inst *i, nv_res *r) {
  if (i->engine->fuel) {
    wasmtime_error_t *error = wasmtime_context_get_fuel(i->ctx, &r->fuel_left);
    if (error) wasmtime_error_delete(error);
  }
  r->memory_bytes = i->linear;
  r->wanted_bytes = i->wanted;
  r->reset = i->reset;
  r->timeouts = (uintptr_t)i->timeouts;
  r->ntimeouts = i->ntimeouts;
  r->next_handle = i->next_handle;
}

void nv_run(nv_inst *i, const nv_req *q, const void *payload, nv_res *r) {
  memset(r, 0, sizeof *r);
  if (q->begin) begin(i, q);
  if (!q->ask || grant(i, q, r)) {
    if (q->deliver && q->alloc) memcpy((void *)r->grant, payload, q->alloc);
    if (q->entry != NV_NONE) enter(i, q, r);
  }
  if (r->status == NV_TRAP && !r->reason_len) last_words(i, r);
  report(i, r);
}

static bool resolve(nv_inst *i, const wasmtime_instance_t *at, nv_res *r) {
  for (int x = 0; x < NV_EXPORTS; x++) {
    if (x == NV_BUFFER_LEN || x == NV_BUFFER_CAPACITY || x == NV_CURRENT_TIME || x == NV_RESET) continue; // never called; the module has them
    if (x >= NV_ERROR_PTR && x <= NV_ERROR_CLEAR && !i->has_errors) continue;
    if (x == NV_INITIALIZE && !i->has_initialize) continue;
    wasmtime_extern_t e;
    if (!wasmtime_instance_export_get(i->ctx, at, nv_export_names[x], strlen(nv_export_names[x]), &e) || e.kind != NV_EXTERN_FUNC) {
      r->status = NV_FAULT;
      r->at = x;
      return false;
    }
    i->fn[x] = e.of.func;
  }
  wasmtime_extern_t e;
  if (!wasmtime_instance_export_get(i->ctx, at, "memory", 6, &e) || e.kind != NV_EXTERN_MEMORY) {
    r->status = NV_FAULT;
    return false;
  }
  i->memory = e.of.memory;
  return true;
}

static bool start(nv_inst *i, nv_module *m, nv_res *r) {
  wasmtime_instance_t at;
  wasm_trap_t *trap = NULL;
  instantiating = i;
  wasmtime_error_t *error = wasmtime_instance_pre_instantiate(m->linked, i->ctx, &at, &trap);
  instantiating = NULL;
  if (error || trap) return failed(i, r, NV_NONE, error, trap);
  if (!resolve(i, &at, r)) return false;
  r->at = NV_NONE;
  if (i->refused) {
    r->status = i->refused;
    return false;
  }
  wasmtime_val_raw_t v[1];
  memset(v, 0, sizeof v);
  return !i->has_initialize || call(i, r, NV_INITIALIZE, v, 0);
}

nv_inst *nv_instantiate(nv_module *m, const nv_req *q, nv_res *r) {
  memset(r, 0, sizeof *r);
  nv_inst *i = calloc(1, sizeof *i);
  if (!i) {
    r->status = NV_MEMORY_OS;
    return NULL;
  }
  i->engine = m->engine;
  i->has_errors = m->has_errors;
  i->has_initialize = m->has_initialize;
  i->ceiling = q->ceiling;
  i->store = wasmtime_store_new(m->engine->engine, i, NULL);
  i->ctx = wasmtime_store_context(i->store);
  wasmtime_store_limiter(i->store, -1, NV_STORE_TABLE_ELEMENTS, 1, NV_STORE_TABLES, NV_STORE_MEMORIES);
  begin(i, q);
  bool ok = start(i, m, r);
  report(i, r);
  if (ok) return i;
  nv_inst_delete(i);
  r->timeouts = 0;
  r->ntimeouts = 0;
  return NULL;
}

void nv_inst_delete(nv_inst *i) {
  wasmtime_store_delete(i->store);
  free(i->timeouts);
  free(i->reason);
  free(i);
}
