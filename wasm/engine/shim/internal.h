// SPDX-License-Identifier: Apache-2.0
//
// What engine.c and call.c share.
#ifndef NV_INTERNAL_H
#define NV_INTERNAL_H

#include "shim.h"
#include "wasmtime_abi.h"

struct nv_engine {
  wasm_engine_t *engine;
  wasmtime_linker_t *linker;
  nv_pool *pool;
  bool fuel, epoch;
};

struct nv_module {
  nv_engine *engine;
  wasmtime_module_t *module;
  wasmtime_instance_pre_t *linked; // imports resolved once, shared by all stores
  bool has_errors, has_initialize;
};

struct nv_inst {
  nv_engine *engine;
  wasmtime_store_t *store;
  wasmtime_context_t *ctx;
  wasmtime_memory_t memory;
  wasmtime_func_t fn[NV_EXPORTS];
  bool has_errors, has_initialize;
  // The running operation.
  int64_t now, next_handle;
  uint8_t allow, reset;
  // Linear memory of all memories together.
  uint64_t ceiling, linear, wanted;
  uint8_t refused; // 0 or one of NV_MEMORY_*
  // Asked-for timeouts of the operation; the array is made by the first and kept.
  nv_timeout *timeouts;
  uint32_t ntimeouts, timeout_room;
  // Text of the last global error.
  uint8_t *reason;
};

enum { NV_MAX_TIMEOUTS = 65536, NV_MAX_REASON = 4096, NV_STORE_TABLE_ELEMENTS = 65536, NV_STORE_TABLES = 4, NV_STORE_MEMORIES = 4 };

extern const char *const nv_export_names[NV_EXPORTS];

// Takes the text out of an error or trap and deletes it; malloc'd.
char *nv_error_text(wasmtime_error_t *error);
char *nv_trap_text(wasm_trap_t *trap);

// The creator's callback: linear memory for the instance that this thread instantiates.
wasmtime_error_t *nv_create_memory(void *env, const wasm_memorytype_t *ty, size_t minimum, size_t maximum, size_t reserved, size_t guard,
                                   wasmtime_linear_memory_t *ret);
// The host functions.
char *nv_define_imports(wasmtime_linker_t *linker);

#endif
