// SPDX-License-Identifier: Apache-2.0
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const nv_export_names[NV_EXPORTS] = {
    "nervix_buffer_ptr", "nervix_buffer_len", "nervix_buffer_capacity", "nervix_alloc", "nervix_init",
    "nervix_current_domain_time_nanos", "nervix_process_batch", "nervix_on_timeout", "nervix_flush", "nervix_read_emit",
    "nervix_dump_state", "nervix_load_state", "nervix_reset_state", "nervix_global_error_ptr", "nervix_global_error_len",
    "nervix_clear_global_error", "_initialize"};

// Parameters, then results, one letter each: i = i32, l = i64.
static const char *const signatures[NV_EXPORTS][2] = {
    {"", "i"}, {"", "i"}, {"", "i"}, {"i", "i"}, {"ii", "i"}, {"", "l"}, {"ii", "i"}, {"l", "i"}, {"", "i"},
    {"", "i"}, {"", "i"}, {"ii", "i"}, {"", "i"}, {"", "i"}, {"", "i"}, {"", "i"}, {"", ""}};

static const struct { const char *name, *params, *results; } imports[] = {
    {"nervix_domain_time_nanos", "", "l"}, {"nervix_timeout_after_nanos", "l", "l"}, {"nervix_request_state_reset", "", "i"}};

static char *copy_text(const wasm_byte_vec_t *v) {
  size_t n = v->size;
  while (n && v->data[n - 1] == 0) n--;
  char *text = malloc(n + 1);
  if (!text) return NULL;
  if (n) memcpy(text, v->data, n);
  text[n] = 0;
  return text;
}

char *nv_error_text(wasmtime_error_t *error) {
  wasm_byte_vec_t v;
  wasmtime_error_message(error, &v);
  char *text = copy_text(&v);
  wasm_byte_vec_delete(&v);
  wasmtime_error_delete(error);
  return text;
}

char *nv_trap_text(wasm_trap_t *trap) {
  wasm_byte_vec_t v;
  wasm_trap_message(trap, &v);
  char *text = copy_text(&v);
  wasm_byte_vec_delete(&v);
  wasm_trap_delete(trap);
  return text;
}

static wasm_config_t *configure(const nv_config *c, nv_pool *pool) {
  wasm_config_t *k = wasm_config_new();
  wasmtime_config_consume_fuel_set(k, c->fuel);
  wasmtime_config_epoch_interruption_set(k, c->epoch);
  wasmtime_config_max_wasm_stack_set(k, c->stack);
  wasmtime_config_wasm_threads_set(k, false);
  wasmtime_config_wasm_tail_call_set(k, false);
  wasmtime_config_wasm_gc_set(k, false);
  wasmtime_config_wasm_function_references_set(k, false);
  wasmtime_config_gc_support_set(k, false);
  wasmtime_config_wasm_relaxed_simd_set(k, false);
  wasmtime_config_wasm_memory64_set(k, false);
  wasmtime_config_wasm_component_model_set(k, false);
  wasmtime_config_wasm_multi_memory_set(k, true);
  wasmtime_config_parallel_compilation_set(k, false); // one thread: a compilation leaves the other cores to the data path
  wasmtime_config_cranelift_opt_level_set(k, NV_OPT_SPEED);
  if (!c->spectre) wasmtime_config_cranelift_flag_set(k, "enable_heap_access_spectre_mitigation", "false");
  wasmtime_config_memory_init_cow_set(k, false); // own memories are never images of a file
  wasmtime_config_memory_may_move_set(k, c->dense);
  wasmtime_config_memory_reservation_set(k, c->dense ? 0 : (uint64_t)4 << 30);
  wasmtime_config_memory_guard_size_set(k, c->dense ? 0 : (uint64_t)32 << 20);
  wasmtime_config_memory_reservation_for_growth_set(k, 0);
  wasmtime_memory_creator_t creator = {.env = pool, .new_memory = nv_create_memory};
  wasmtime_config_host_memory_creator_set(k, &creator);
  return k;
}

nv_engine *nv_engine_new(const nv_config *c, char **message) {
  nv_engine *e = calloc(1, sizeof *e);
  if (!e) return NULL;
  e->fuel = c->fuel;
  e->epoch = c->epoch;
  e->pool = nv_pool_new(c->dense, c->linear_bytes, c->maps);
  if (e->pool) e->engine = wasm_engine_new_with_config(configure(c, e->pool));
  if (e->engine) e->linker = wasmtime_linker_new(e->engine);
  *message = e->linker ? nv_define_imports(e->linker) : strdup("libwasmtime refused the configuration");
  if (*message) {
    nv_engine_delete(e);
    return NULL;
  }
  return e;
}

void nv_engine_tick(nv_engine *e, uint64_t epochs) {
  while (epochs--) wasmtime_engine_increment_epoch(e->engine);
}

void nv_engine_usage(nv_engine *e, nv_usage *out) { nv_pool_usage(e->pool, out); }

void nv_engine_delete(nv_engine *e) {
  if (e->linker) wasmtime_linker_delete(e->linker);
  if (e->engine) wasm_engine_delete(e->engine);
  if (e->pool) nv_pool_delete(e->pool);
  free(e);
}

static bool matches(const wasm_valtype_vec_t *have, const char *want) {
  if (have->size != strlen(want)) return false;
  for (size_t k = 0; k < have->size; k++)
    if (wasm_valtype_kind(have->data[k]) != (want[k] == 'l' ? NV_VAL_I64 : NV_VAL_I32)) return false;
  return true;
}

static bool has_type(const wasm_externtype_t *t, const char *params, const char *results) {
  if (wasm_externtype_kind(t) != NV_TYPE_FUNC) return false;
  const wasm_functype_t *f = wasm_externtype_as_functype_const(t);
  return matches(wasm_functype_params(f), params) && matches(wasm_functype_results(f), results);
}

static bool is_named(const wasm_byte_vec_t *v, const char *name) {
  return v->size == strlen(name) && (v->size == 0 || !memcmp(v->data, name, v->size));
}

static char *complain(const char *format, const char *name) {
  char *text = malloc(strlen(format) + strlen(name) + 1);
  if (text) sprintf(text, format, name);
  return text;
}

// The calls are unchecked, so the library's own view of the types decides here; the Go side has refused such modules before, with
// better words.
static char *check_exports(nv_module *m) {
  wasm_exporttype_vec_t all;
  wasmtime_module_exports(m->module, &all);
  bool found[NV_EXPORTS] = {0}, memory = false;
  for (size_t k = 0; k < all.size; k++) {
    const wasm_byte_vec_t *name = wasm_exporttype_name(all.data[k]);
    const wasm_externtype_t *type = wasm_exporttype_type(all.data[k]);
    for (int x = 0; x < NV_EXPORTS; x++)
      if (is_named(name, nv_export_names[x]) && has_type(type, signatures[x][0], signatures[x][1])) found[x] = true;
    if (is_named(name, "memory") && wasm_externtype_kind(type) == NV_TYPE_MEMORY) memory = true;
  }
  wasm_exporttype_vec_delete(&all);
  for (int x = 0; x < NV_REQUIRED; x++)
    if (!found[x]) return complain("missing required export %s", nv_export_names[x]);
  if (!memory) return complain("missing required export %s", "memory");
  m->has_errors = found[NV_ERROR_PTR] && found[NV_ERROR_LEN] && found[NV_ERROR_CLEAR];
  m->has_initialize = found[NV_INITIALIZE];
  return NULL;
}

static char *check_imports(nv_module *m) {
  wasm_importtype_vec_t all;
  wasmtime_module_imports(m->module, &all);
  char *bad = NULL;
  for (size_t k = 0; k < all.size && !bad; k++) {
    bool known = false;
    for (size_t x = 0; x < sizeof imports / sizeof *imports; x++)
      known |= is_named(wasm_importtype_module(all.data[k]), "env") && is_named(wasm_importtype_name(all.data[k]), imports[x].name) &&
               has_type(wasm_importtype_type(all.data[k]), imports[x].params, imports[x].results);
    if (!known) bad = complain("%s", "the module imports something the host does not provide");
  }
  wasm_importtype_vec_delete(&all);
  return bad;
}

static char *link_imports(nv_module *m) {
  wasmtime_error_t *error = wasmtime_linker_instantiate_pre(m->engine->linker, m->module, &m->linked);
  return error ? nv_error_text(error) : NULL;
}

static nv_module *finish(nv_engine *e, wasmtime_error_t *error, wasmtime_module_t *module, char **message) {
  if (error) {
    *message = nv_error_text(error);
    return NULL;
  }
  nv_module *m = calloc(1, sizeof *m);
  if (!m) {
    wasmtime_module_delete(module);
    return NULL;
  }
  m->engine = e;
  m->module = module;
  if ((*message = check_imports(m)) || (*message = check_exports(m)) || (*message = link_imports(m))) {
    nv_module_delete(m);
    return NULL;
  }
  return m;
}

nv_module *nv_module_compile(nv_engine *e, const void *wasm, size_t n, char **message) {
  wasmtime_module_t *module = NULL;
  wasmtime_error_t *error = wasmtime_module_new(e->engine, wasm, n, &module);
  return finish(e, error, module, message);
}

nv_module *nv_module_load(nv_engine *e, const void *code, size_t n, char **message) {
  wasmtime_module_t *module = NULL;
  wasmtime_error_t *error = wasmtime_module_deserialize(e->engine, code, n, &module);
  return finish(e, error, module, message);
}

void *nv_module_serialize(nv_module *m, size_t *n, char **message) {
  wasm_byte_vec_t v;
  wasmtime_error_t *error = wasmtime_module_serialize(m->module, &v);
  if (error) {
    *message = nv_error_text(error);
    return NULL;
  }
  void *out = malloc(v.size ? v.size : 1);
  if (out) memcpy(out, v.data, v.size);
  *n = v.size;
  wasm_byte_vec_delete(&v);
  return out;
}

void nv_module_delete(nv_module *m) {
  if (m->linked) wasmtime_instance_pre_delete(m->linked);
  wasmtime_module_delete(m->module);
  free(m);
}

// Host functions: they read the operation's snapshot and record what the guest asks for; the Go side acts on it afterwards.

static nv_inst *instance_of(wasmtime_caller_t *caller) { return wasmtime_context_get_data(wasmtime_caller_context(caller)); }

static wasm_trap_t *domain_time(void *env, wasmtime_caller_t *caller, wasmtime_val_raw_t *v, size_t n) {
  (void)env, (void)n;
  v[0].i64 = instance_of(caller)->now;
  return NULL;
}

static bool room_for_timeout(nv_inst *i) {
  if (i->ntimeouts < i->timeout_room) return true;
  if (i->ntimeouts == NV_MAX_TIMEOUTS) return false;
  uint32_t room = i->timeout_room ? i->timeout_room * 2 : 4;
  nv_timeout *more = realloc(i->timeouts, room * sizeof *more);
  if (!more) return false;
  i->timeouts = more;
  i->timeout_room = room;
  return true;
}

static wasm_trap_t *timeout_after(void *env, wasmtime_caller_t *caller, wasmtime_val_raw_t *v, size_t n) {
  (void)env, (void)n;
  nv_inst *i = instance_of(caller);
  int64_t delay = v[0].i64;
  v[0].i64 = -1;
  if (!(i->allow & NV_ALLOW_TIMEOUT) || !room_for_timeout(i)) return NULL;
  v[0].i64 = i->next_handle++;
  i->timeouts[i->ntimeouts++] = (nv_timeout){v[0].i64, delay};
  return NULL;
}

static wasm_trap_t *request_reset(void *env, wasmtime_caller_t *caller, wasmtime_val_raw_t *v, size_t n) {
  (void)env, (void)n;
  nv_inst *i = instance_of(caller);
  bool taken = i->allow & NV_ALLOW_RESET;
  i->reset |= taken;
  v[0].i64 = 0;
  v[0].i32 = taken ? 0 : -9;
  return NULL;
}

static wasm_valtype_vec_t types(const char *letters) {
  wasm_valtype_vec_t v;
  wasm_valtype_t *one[2];
  size_t n = strlen(letters);
  for (size_t k = 0; k < n; k++) one[k] = wasm_valtype_new(letters[k] == 'l' ? NV_VAL_I64 : NV_VAL_I32);
  wasm_valtype_vec_new(&v, n, one);
  return v;
}

char *nv_define_imports(wasmtime_linker_t *linker) {
  const wasmtime_func_unchecked_callback_t callbacks[] = {domain_time, timeout_after, request_reset};
  for (size_t k = 0; k < sizeof imports / sizeof *imports; k++) {
    wasm_valtype_vec_t params = types(imports[k].params), results = types(imports[k].results);
    wasm_functype_t *type = wasm_functype_new(&params, &results);
    wasmtime_error_t *error = wasmtime_linker_define_func_unchecked(linker, "env", 3, imports[k].name, strlen(imports[k].name), type,
                                                                    callbacks[k], NULL, NULL);
    wasm_functype_delete(type);
    if (error) return nv_error_text(error);
  }
  return NULL;
}
