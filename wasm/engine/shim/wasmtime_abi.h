// SPDX-License-Identifier: Apache-2.0
//
// The part of the C interface of libwasmtime 44.0.0 that the shim uses, declared here because the headers of a Go module that is
// only linked cannot be included. layout_test.go compiles these declarations beside the library's own headers and fails if a size,
// an offset or a prototype differs.
#ifndef NV_WASMTIME_ABI_H
#define NV_WASMTIME_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct wasm_config_t wasm_config_t;
typedef struct wasm_engine_t wasm_engine_t;
typedef struct wasm_trap_t wasm_trap_t;
typedef struct wasm_functype_t wasm_functype_t;
typedef struct wasm_memorytype_t wasm_memorytype_t;
typedef struct wasm_valtype_t wasm_valtype_t;
typedef struct wasm_externtype_t wasm_externtype_t;
typedef struct wasm_importtype_t wasm_importtype_t;
typedef struct wasm_exporttype_t wasm_exporttype_t;
typedef struct wasmtime_error wasmtime_error_t;
typedef struct wasmtime_module wasmtime_module_t;
typedef struct wasmtime_store wasmtime_store_t;
typedef struct wasmtime_context wasmtime_context_t;
typedef struct wasmtime_linker wasmtime_linker_t;
typedef struct wasmtime_instance_pre wasmtime_instance_pre_t;
typedef struct wasmtime_caller wasmtime_caller_t;

typedef struct wasm_byte_vec_t { size_t size; char *data; } wasm_byte_vec_t;
typedef struct wasm_valtype_vec_t { size_t size; wasm_valtype_t **data; } wasm_valtype_vec_t;
typedef struct wasm_importtype_vec_t { size_t size; wasm_importtype_t **data; } wasm_importtype_vec_t;
typedef struct wasm_exporttype_vec_t { size_t size; wasm_exporttype_t **data; } wasm_exporttype_vec_t;

typedef struct wasmtime_func { uint64_t store_id; void *__private; } wasmtime_func_t;
typedef struct wasmtime_memory { struct { uint64_t store_id; uint32_t __private1; }; uint32_t __private2; } wasmtime_memory_t;
typedef struct wasmtime_instance { uint64_t store_id; size_t __private; } wasmtime_instance_t;
typedef union wasmtime_extern_union { wasmtime_func_t func; wasmtime_memory_t memory; uint64_t room[3]; } wasmtime_extern_union_t;
typedef struct wasmtime_extern { uint8_t kind; wasmtime_extern_union_t of; } wasmtime_extern_t;
typedef union wasmtime_val_raw { int32_t i32; int64_t i64; uint8_t v128[16]; void *funcref; } wasmtime_val_raw_t;

typedef uint8_t *(*wasmtime_memory_get_callback_t)(void *env, size_t *byte_size, size_t *byte_capacity);
typedef wasmtime_error_t *(*wasmtime_memory_grow_callback_t)(void *env, size_t new_size);
typedef struct wasmtime_linear_memory {
  void *env;
  wasmtime_memory_get_callback_t get_memory;
  wasmtime_memory_grow_callback_t grow_memory;
  void (*finalizer)(void *);
} wasmtime_linear_memory_t;
typedef wasmtime_error_t *(*wasmtime_new_memory_callback_t)(void *env, const wasm_memorytype_t *ty, size_t minimum, size_t maximum,
                                                            size_t reserved_size_in_bytes, size_t guard_size_in_bytes,
                                                            wasmtime_linear_memory_t *memory_ret);
typedef struct wasmtime_memory_creator {
  void *env;
  wasmtime_new_memory_callback_t new_memory;
  void (*finalizer)(void *);
} wasmtime_memory_creator_t;
typedef wasm_trap_t *(*wasmtime_func_unchecked_callback_t)(void *env, wasmtime_caller_t *caller, wasmtime_val_raw_t *args_and_results,
                                                           size_t num_args_and_results);

enum { NV_EXTERN_FUNC = 0, NV_EXTERN_MEMORY = 3 };                           // wasmtime_extern.kind
enum { NV_TYPE_FUNC = 0, NV_TYPE_MEMORY = 3 };                               // wasm_externtype_kind
enum { NV_VAL_I32 = 0, NV_VAL_I64 = 1 };                                     // wasm_valtype_kind
enum { NV_OPT_SPEED = 1 };                                                   // wasmtime_opt_level
enum { NV_TRAP_INTERRUPT = 10, NV_TRAP_OUT_OF_FUEL = 11 };                   // wasmtime_trap_code

wasm_config_t *wasm_config_new(void);
wasm_engine_t *wasm_engine_new_with_config(wasm_config_t *);
void wasm_engine_delete(wasm_engine_t *);
void wasmtime_engine_increment_epoch(wasm_engine_t *);

void wasmtime_config_consume_fuel_set(wasm_config_t *, bool);
void wasmtime_config_epoch_interruption_set(wasm_config_t *, bool);
void wasmtime_config_max_wasm_stack_set(wasm_config_t *, size_t);
void wasmtime_config_wasm_threads_set(wasm_config_t *, bool);
void wasmtime_config_wasm_tail_call_set(wasm_config_t *, bool);
void wasmtime_config_wasm_function_references_set(wasm_config_t *, bool);
void wasmtime_config_wasm_gc_set(wasm_config_t *, bool);
void wasmtime_config_gc_support_set(wasm_config_t *, bool);
void wasmtime_config_wasm_relaxed_simd_set(wasm_config_t *, bool);
void wasmtime_config_wasm_multi_memory_set(wasm_config_t *, bool);
void wasmtime_config_wasm_memory64_set(wasm_config_t *, bool);
void wasmtime_config_wasm_component_model_set(wasm_config_t *, bool);
void wasmtime_config_parallel_compilation_set(wasm_config_t *, bool);
void wasmtime_config_cranelift_opt_level_set(wasm_config_t *, uint8_t);
void wasmtime_config_cranelift_flag_set(wasm_config_t *, const char *, const char *);
void wasmtime_config_memory_may_move_set(wasm_config_t *, bool);
void wasmtime_config_memory_reservation_set(wasm_config_t *, uint64_t);
void wasmtime_config_memory_guard_size_set(wasm_config_t *, uint64_t);
void wasmtime_config_memory_reservation_for_growth_set(wasm_config_t *, uint64_t);
void wasmtime_config_memory_init_cow_set(wasm_config_t *, bool);
void wasmtime_config_host_memory_creator_set(wasm_config_t *, wasmtime_memory_creator_t *);

wasmtime_error_t *wasmtime_module_new(wasm_engine_t *, const uint8_t *, size_t, wasmtime_module_t **);
void wasmtime_module_delete(wasmtime_module_t *);
void wasmtime_module_imports(const wasmtime_module_t *, wasm_importtype_vec_t *);
void wasmtime_module_exports(const wasmtime_module_t *, wasm_exporttype_vec_t *);
wasmtime_error_t *wasmtime_module_serialize(wasmtime_module_t *, wasm_byte_vec_t *);
wasmtime_error_t *wasmtime_module_deserialize(wasm_engine_t *, const uint8_t *, size_t, wasmtime_module_t **);

wasmtime_linker_t *wasmtime_linker_new(wasm_engine_t *);
void wasmtime_linker_delete(wasmtime_linker_t *);
wasmtime_error_t *wasmtime_linker_define_func_unchecked(wasmtime_linker_t *, const char *, size_t, const char *, size_t,
                                                        const wasm_functype_t *, wasmtime_func_unchecked_callback_t, void *,
                                                        void (*)(void *));
wasmtime_error_t *wasmtime_linker_instantiate_pre(const wasmtime_linker_t *, const wasmtime_module_t *, wasmtime_instance_pre_t **);
void wasmtime_instance_pre_delete(wasmtime_instance_pre_t *);
wasmtime_error_t *wasmtime_instance_pre_instantiate(const wasmtime_instance_pre_t *, wasmtime_context_t *, wasmtime_instance_t *,
                                                    wasm_trap_t **);
bool wasmtime_instance_export_get(wasmtime_context_t *, const wasmtime_instance_t *, const char *, size_t, wasmtime_extern_t *);
void wasmtime_extern_delete(wasmtime_extern_t *);

wasmtime_store_t *wasmtime_store_new(wasm_engine_t *, void *, void (*)(void *));
void wasmtime_store_delete(wasmtime_store_t *);
wasmtime_context_t *wasmtime_store_context(wasmtime_store_t *);
void wasmtime_store_limiter(wasmtime_store_t *, int64_t, int64_t, int64_t, int64_t, int64_t);
void *wasmtime_context_get_data(const wasmtime_context_t *);
wasmtime_error_t *wasmtime_context_set_fuel(wasmtime_context_t *, uint64_t);
wasmtime_error_t *wasmtime_context_get_fuel(const wasmtime_context_t *, uint64_t *);
void wasmtime_context_set_epoch_deadline(wasmtime_context_t *, uint64_t);
wasmtime_context_t *wasmtime_caller_context(wasmtime_caller_t *);

wasmtime_error_t *wasmtime_func_call_unchecked(wasmtime_context_t *, const wasmtime_func_t *, wasmtime_val_raw_t *, size_t,
                                               wasm_trap_t **);
uint8_t *wasmtime_memory_data(const wasmtime_context_t *, const wasmtime_memory_t *);
size_t wasmtime_memory_data_size(const wasmtime_context_t *, const wasmtime_memory_t *);

wasmtime_error_t *wasmtime_error_new(const char *);
void wasmtime_error_delete(wasmtime_error_t *);
void wasmtime_error_message(const wasmtime_error_t *, wasm_byte_vec_t *);
bool wasmtime_trap_code(const wasm_trap_t *, uint8_t *);
void wasm_trap_message(const wasm_trap_t *, wasm_byte_vec_t *);
void wasm_trap_delete(wasm_trap_t *);

void wasm_byte_vec_delete(wasm_byte_vec_t *);
void wasm_valtype_vec_new_empty(wasm_valtype_vec_t *);
void wasm_valtype_vec_new(wasm_valtype_vec_t *, size_t, wasm_valtype_t *const[]);
wasm_valtype_t *wasm_valtype_new(uint8_t);
uint8_t wasm_valtype_kind(const wasm_valtype_t *);
wasm_functype_t *wasm_functype_new(wasm_valtype_vec_t *, wasm_valtype_vec_t *);
void wasm_functype_delete(wasm_functype_t *);
const wasm_valtype_vec_t *wasm_functype_params(const wasm_functype_t *);
const wasm_valtype_vec_t *wasm_functype_results(const wasm_functype_t *);
const wasm_functype_t *wasm_externtype_as_functype_const(const wasm_externtype_t *);
uint8_t wasm_externtype_kind(const wasm_externtype_t *);
const wasm_byte_vec_t *wasm_importtype_module(const wasm_importtype_t *);
const wasm_byte_vec_t *wasm_importtype_name(const wasm_importtype_t *);
const wasm_externtype_t *wasm_importtype_type(const wasm_importtype_t *);
void wasm_importtype_vec_delete(wasm_importtype_vec_t *);
const wasm_byte_vec_t *wasm_exporttype_name(const wasm_exporttype_t *);
const wasm_externtype_t *wasm_exporttype_type(const wasm_exporttype_t *);
void wasm_exporttype_vec_delete(wasm_exporttype_vec_t *);

#endif
