// SPDX-License-Identifier: Apache-2.0
//
// One C function per thing the Go side asks for, so that a guest operation costs one crossing. Nothing here calls back into Go.
// Every pointer into guest memory that a result carries dies with the next call into the same instance.
#ifndef NV_SHIM_H
#define NV_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct nv_engine nv_engine;
typedef struct nv_module nv_module;
typedef struct nv_inst nv_inst;

// The exports a guest is asked for, in the order of engine.Export.
enum {
  NV_BUFFER_PTR, NV_BUFFER_LEN, NV_BUFFER_CAPACITY, NV_ALLOC, NV_INIT, NV_CURRENT_TIME, NV_PROCESS, NV_ON_TIMEOUT, NV_FLUSH,
  NV_READ_EMIT, NV_DUMP, NV_LOAD, NV_RESET, NV_REQUIRED,
  NV_ERROR_PTR = NV_REQUIRED, NV_ERROR_LEN, NV_ERROR_CLEAR, NV_INITIALIZE, NV_EXPORTS,
  NV_NONE = NV_EXPORTS // no entry call: only the buffer is asked for
};

// Outcome of a call, in the order of engine.Status.
enum {
  NV_OK, NV_TRAP, NV_FUEL, NV_EPOCH, NV_MEMORY_CEILING, NV_MEMORY_BUDGET, NV_MEMORY_OS, NV_NO_BUFFER, NV_RANGE, NV_TOO_LARGE, NV_FAULT
};

// What an operation may ask the host for.
enum { NV_ALLOW_TIMEOUT = 1, NV_ALLOW_RESET = 2 };

typedef struct {
  bool dense, fuel, epoch;       // fuel and epoch are always on in production; off only to measure their price
  bool spectre;                  // bounds checks that speculation cannot pass
  uint64_t stack;                // bytes of wasm stack
  uint64_t linear_bytes;         // node-wide budget of linear memory
  uint64_t maps;                 // node-wide budget of memory maps
} nv_config;

typedef struct {
  uint64_t linear_bytes, maps, slabs, memories; // in use now
} nv_usage;

typedef struct { int64_t handle, delay; } nv_timeout;

typedef struct {
  uint64_t fuel, ticks, ceiling;
  int64_t now;
  int64_t next_handle;
  int64_t a, b;          // arguments of the entry call
  uint32_t alloc;        // bytes to ask nervix_alloc for; with `ask` set
  uint32_t max_buffer;   // largest range read from the guest
  uint8_t begin, ask, entry, allow;
  uint8_t deliver;       // the payload goes into the granted buffer and its range to the entry call
} nv_req;

typedef struct {
  int32_t status, trap;  // trap: code of libwasmtime, or -1
  int32_t at;            // the export that failed or answered last
  int32_t reset;         // the guest asked for a reset and got 0
  int64_t code;          // answer of the entry call
  int64_t next_handle;
  uint64_t fuel_left, memory_bytes, wanted_bytes;
  // Addresses are integers, so that the Go side's pointer checks have nothing to look at.
  uintptr_t grant;       // nervix_alloc's range
  uintptr_t out;         // output or snapshot
  uintptr_t reason;      // text from the global-error channel; owned by the instance until its next call
  uintptr_t timeouts;    // array of nv_timeout, owned by the instance until its next call
  uintptr_t message;     // malloc'd text of a failure, or 0; the caller frees it
  uint32_t grant_ptr, grant_len, out_ptr, out_len, reason_len, ntimeouts;
  int64_t lied_ptr, lied_len; // with NV_RANGE and NV_TOO_LARGE: what the guest answered
  uint8_t reason_cut, done_emit;
} nv_res;

// Engines. nv_engine_new gives NULL and a message on failure.
nv_engine *nv_engine_new(const nv_config *config, char **message);
void nv_engine_tick(nv_engine *e, uint64_t epochs);
void nv_engine_usage(nv_engine *e, nv_usage *out);
void nv_engine_delete(nv_engine *e);

// Modules. Compile and load give NULL and a malloc'd message on failure.
nv_module *nv_module_compile(nv_engine *e, const void *wasm, size_t n, char **message);
nv_module *nv_module_load(nv_engine *e, const void *code, size_t n, char **message);
void *nv_module_serialize(nv_module *m, size_t *n, char **message); // malloc'd
void nv_module_delete(nv_module *m);

// Instances.
nv_inst *nv_instantiate(nv_module *m, const nv_req *req, nv_res *res);
void nv_run(nv_inst *i, const nv_req *req, const void *payload, nv_res *res);
void nv_inst_delete(nv_inst *i);

// Linear memory (memory.c).
struct nv_mem;
typedef struct nv_pool nv_pool;
nv_pool *nv_pool_new(bool dense, uint64_t linear_bytes, uint64_t maps);
void nv_pool_usage(nv_pool *p, nv_usage *out);
void nv_pool_delete(nv_pool *p);
// One linear memory. Gives 0 or one of NV_MEMORY_BUDGET, NV_MEMORY_OS.
int nv_mem_new(nv_pool *p, size_t size, size_t reserve, size_t guard, struct nv_mem **out);
int nv_mem_grow(struct nv_mem *m, size_t size);
void nv_mem_delete(struct nv_mem *m);
uint8_t *nv_mem_view(struct nv_mem *m, size_t *size, size_t *capacity);

#endif
