/* SPDX-License-Identifier: Apache-2.0
 *
 * nervix_guest.h: write a guest of a Nervix WASM processor in C11 or C++.
 *
 * One header, no libc, no WASI. It owns everything the host calls or reads: the buffer, the messages, the Arrow batches, the queue of emitted
 * output, the error channel and the wrapping of saved state. You write callbacks and put them into `nervix_guest`. docs/guests.md teaches
 * it from the beginning; docs/formats/guest.md is the contract on the wire.
 *
 *   #define NERVIX_GUEST_IMPLEMENTATION      in exactly one file of the guest
 *   #include "nervix_guest.h"
 *
 *   clang --target=wasm32 -std=c11 -O2 -mbulk-memory -ffreestanding -nostdlib -c guest.c -o guest.o
 *   wasm-ld --no-entry --stack-first -z stack-size=32768 --strip-all guest.o -o guest.wasm
 *
 * Rules that hold everywhere:
 *
 *  - One instance is one branch. The host makes one call at a time; static variables are the state of the branch.
 *  - What a batch lends (texts, bytes, columns, entries) lies in the input buffer and is gone when the callback returns. Copy what you keep:
 *    nv_hold for entries, nv_append for bytes.
 *  - Outputs, formatted texts and everything else made by a callback lives until the callback returns. nv_allocate is for ever.
 *  - A callback answers 0, or a negative code. After an answer below 0, or when a reason was reported, nothing that the callback emitted
 *    leaves the guest.
 *  - Memory grows in steps of at least 256 KiB and an eighth of what there is (NERVIX_GUEST_GROW), because growing may copy all of it.
 *    Give MAX MEMORY that much more than the guest needs. If the host refuses memory the guest traps.
 */
#ifndef NERVIX_GUEST_H
#define NERVIX_GUEST_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Answers. Any other negative code may be used for a plain rejection. */

enum {
  NV_OK = 0,
  NV_BAD_SIZE = -1,     /* a size is negative or larger than a message may be */
  NV_BAD_RANGE = -2,    /* a range does not lie inside the guest's buffer */
  NV_NOT_READY = -3,    /* called before init, or restore after the first batch */
  NV_BAD_BATCH = -4,    /* the Arrow batch is damaged or has another schema */
  NV_BAD_MESSAGE = -5,  /* the message is damaged or of another kind */
  NV_REJECTED = -6,     /* the guest refuses; nv_fail gives this */
  NV_BAD_SNAPSHOT = -7, /* restore only: not a snapshot, or one of another branch or schema */
  NV_BAD_STATE = -8     /* restore only: the state inside is refused */
};

/* ---- Texts, bytes, memory */

/* UTF-8, not terminated by zero. */
typedef struct nv_text {
  const char *data;
  uint32_t size;
} nv_text;

typedef struct nv_bytes {
  const uint8_t *data;
  uint32_t size;
} nv_bytes;

/* Bytes that grow. Zero it to begin; nv_buffer_free gives the memory back. */
typedef struct nv_buffer {
  uint8_t *data;
  uint32_t size, capacity;
} nv_buffer;

/* The text of a C string. It is not copied. */
nv_text nv_text_of(const char *s);
bool nv_text_equal(nv_text a, nv_text b);
/* Makes a text that lives until the callback returns: %s char *, %t nv_text, %u uint32_t, %d int32_t, %U uint64_t, %D int64_t, %%. */
nv_text nv_format(const char *format, ...);

/* Memory, aligned to 16 bytes and not cleared. Traps if the host refuses it. */
void *nv_allocate(uint32_t size);
/* Gives memory back for other allocations. NULL is allowed. */
void nv_release(void *memory);

/* Makes room for size more bytes and returns where they begin; they count from now on. */
void *nv_extend(nv_buffer *buffer, uint32_t size);
void nv_append(nv_buffer *buffer, const void *data, uint32_t size);
/* Makes room without counting it. */
void nv_reserve(nv_buffer *buffer, uint32_t size);
void nv_buffer_free(nv_buffer *buffer);

/* ---- Time. Instants and durations are types of their own; nanoseconds since 1970 exist on the wire only. Arithmetic stops at the ends. */

typedef struct nv_duration {
  int64_t nanoseconds_;
} nv_duration;

typedef struct nv_time {
  nv_duration since_epoch_;
} nv_time;

nv_duration nv_nanoseconds(int64_t n);
nv_duration nv_milliseconds(int64_t n);
nv_duration nv_seconds(int64_t n);
int64_t nv_in_nanoseconds(nv_duration d);
/* The instant that lies a duration after 1970-01-01T00:00:00Z, and back. */
nv_time nv_time_at(nv_duration since_epoch);
nv_duration nv_since_epoch(nv_time t);
nv_time nv_time_add(nv_time t, nv_duration d);
nv_duration nv_time_between(nv_time from, nv_time to);
bool nv_time_before(nv_time a, nv_time b);
bool nv_time_equal(nv_time a, nv_time b);

/* The domain time of the running operation. It does not move during a callback. */
nv_time nv_now(void);

typedef struct nv_timeout {
  int64_t handle_; /* below 1: none */
} nv_timeout;

/* Asks for on_timeout after a duration of domain time, from create, process_batch, on_timeout or flush. A new instance has no timeouts. */
nv_timeout nv_after(nv_duration delay);
nv_timeout nv_no_timeout(void);
bool nv_timeout_set(nv_timeout t);
bool nv_timeout_equal(nv_timeout a, nv_timeout b);

/* Asks for a new life of this branch's state; the host drops this instance when the callback is over. True if the request was taken. */
bool nv_request_reset(void);

/* ---- Schemas */

typedef enum nv_kind {
  NV_U8 = 0, NV_I8, NV_U16, NV_I16, NV_U32, NV_I32, NV_U64, NV_I64, NV_BOOL, NV_STRING, NV_BYTES, NV_DATETIME, NV_F32, NV_F64, NV_ARRAY, NV_VEC
} nv_kind;

typedef struct nv_type {
  nv_kind kind;
  uint32_t length;               /* of NV_ARRAY */
  const struct nv_type *element; /* of NV_ARRAY and NV_VEC */
} nv_type;

typedef struct nv_field {
  nv_text name;
  const nv_type *type;
  bool optional;
} nv_field;

typedef struct nv_schema {
  nv_text name;
  uint32_t count;
  const nv_field *fields;
} nv_schema;

/* What the host says about this branch. It lives as long as the instance. */
typedef struct nv_init {
  nv_text domain_name, domain_type;
  bool branched;
  nv_text branch_key; /* JSON text, if branched */
  nv_schema input;
  uint32_t output_count;
  const nv_schema *outputs; /* one for each TO, named like the relay */
} nv_init;

const nv_init *nv_the_init(void);

/* Holds a schema against what the guest was written for, in the words of NSPL: "sensor STRING, value F64 OPTIONAL, path VEC<ARRAY<F32, 2>>".
 * Names, types, nullability and order count. Gives 0, or fails with a reason that shows both. */
int32_t nv_require_input(const char *fields);
/* The same for the output of a relay; gives its number, which nv_generate and nv_route_to take. NULL for fields accepts any. */
int32_t nv_require_output(const char *relay, const char *fields);
/* The number of a field of a schema, or a failure with a reason. type is as above, "F64 OPTIONAL" for instance; NULL accepts any. */
int32_t nv_require_field(const nv_schema *schema, const char *name, const char *type);

/* Whether a schema has exactly these fields; fails nothing. */
bool nv_schema_is(const nv_schema *schema, const char *fields);
/* Whether two fields have the same type and nullability, so that an input column may go to the other one. */
bool nv_field_fits(const nv_field *from, const nv_field *to);

/* Returns from the calling function if x is negative. */
#define NV_TRY(x) do { int32_t nv_tried_ = (x); if (nv_tried_ < 0) return nv_tried_; } while (0)

/* ---- An input batch. All of it is lent until the callback returns. */

/* What one row stands for: the input tokens it carries, and the token its input columns are read from. Hand it on whole. */
typedef struct nv_entry {
  const uint64_t *tokens;
  uint32_t count;
  bool has_source;
  uint64_t source;
} nv_entry;

typedef struct nv_column {
  const nv_type *type;
  uint32_t rows, nulls;
  const uint8_t *validity;          /* one bit a row; NULL if no row is null */
  const uint8_t *values;            /* numbers, instants (int64_t) or bits */
  const int32_t *offsets;           /* rows + 1, for texts, bytes and VEC */
  nv_bytes data;                    /* of texts and bytes */
  const struct nv_column *element;  /* of ARRAY and VEC */
} nv_column;

typedef struct nv_batch {
  uint32_t rows;
  uint32_t count;            /* of columns */
  const nv_column *columns;  /* in the order of the input schema */
  const uint8_t *message_;
  uint32_t entries_, entries_end_, tokens_at_, source_at_;
} nv_batch;

nv_entry nv_entry_of(const nv_batch *batch, uint32_t row);

/* Entries that outlive the callback. Zero it to begin. */
typedef struct nv_held {
  nv_buffer tokens_, entries_;
} nv_held;

void nv_hold(nv_held *held, nv_entry entry);
uint32_t nv_held_count(const nv_held *held);
/* Lent until the next nv_hold or nv_held_clear. */
nv_entry nv_held_entry(const nv_held *held, uint32_t i);
void nv_held_clear(nv_held *held);

/* Values by row. The row is below rows, and the function is that of the column's type; the guest panics otherwise. A null reads as anything. */
bool nv_is_null(const nv_column *column, uint32_t row);
uint8_t nv_u8(const nv_column *column, uint32_t row);
int8_t nv_i8(const nv_column *column, uint32_t row);
uint16_t nv_u16(const nv_column *column, uint32_t row);
int16_t nv_i16(const nv_column *column, uint32_t row);
uint32_t nv_u32(const nv_column *column, uint32_t row);
int32_t nv_i32(const nv_column *column, uint32_t row);
uint64_t nv_u64(const nv_column *column, uint32_t row);
int64_t nv_i64(const nv_column *column, uint32_t row);
float nv_f32(const nv_column *column, uint32_t row);
double nv_f64(const nv_column *column, uint32_t row);
bool nv_bool(const nv_column *column, uint32_t row);
nv_time nv_datetime(const nv_column *column, uint32_t row);
nv_text nv_string(const nv_column *column, uint32_t row);
nv_bytes nv_binary(const nv_column *column, uint32_t row);
/* The elements of a row of an ARRAY or VEC are the rows first to first + count - 1 of column->element. */
typedef struct nv_list {
  uint32_t first, count;
} nv_list;
nv_list nv_elements(const nv_column *column, uint32_t row);

/* ---- Output. One nv_output is one envelope: routes whose rows agree, with one generated batch that they share. */

typedef struct nv_output nv_output;
typedef struct nv_route nv_route;
typedef struct nv_generated nv_generated;

nv_output *nv_output_new(void);
/* A generated column with the type of a field of a relay. Any route of the output may use it, in several fields; make it once. */
nv_generated *nv_generate(nv_output *output, int32_t relay, const char *field);
nv_generated *nv_generate_at(nv_output *output, int32_t relay, uint32_t field);
nv_route *nv_route_to(nv_output *output, int32_t relay);

/* The columns of a route, one call for each field of the relay, in its order. */
void nv_from_input(nv_route *route, uint32_t column);
void nv_from_generated(nv_route *route, nv_generated *column);
void nv_from_nothing(nv_route *route); /* null, unless SET of the route gives it a value */

/* One row of the route, with the entry whole. */
void nv_carry(nv_route *route, nv_entry entry);
/* All rows of the batch, in order. At once, so it is the fast way. */
void nv_carry_all(nv_route *route, const nv_batch *batch);
/* The rows that another route of this output has now, and no others. */
void nv_carry_same(nv_route *route, const nv_route *other);

/* What becomes of an input that no row carries: done; failed at once, so that the source may send it again; or an error of the message, which
 * the route's ON MESSAGE ERROR handles. Reasons are copied. An input that is neither carried nor decided stays with the guest. */
void nv_ack(nv_route *route, nv_entry entry);
void nv_nack(nv_route *route, nv_entry entry, nv_text reason);
void nv_message_error(nv_route *route, nv_entry entry, nv_text reason);

/* Values of a generated column, one call a row, or one call an element of nv_put_list's column. */
void nv_put_u8(nv_generated *column, uint8_t v);
void nv_put_i8(nv_generated *column, int8_t v);
void nv_put_u16(nv_generated *column, uint16_t v);
void nv_put_i16(nv_generated *column, int16_t v);
void nv_put_u32(nv_generated *column, uint32_t v);
void nv_put_i32(nv_generated *column, int32_t v);
void nv_put_u64(nv_generated *column, uint64_t v);
void nv_put_i64(nv_generated *column, int64_t v);
void nv_put_f32(nv_generated *column, float v);
void nv_put_f64(nv_generated *column, double v);
void nv_put_bool(nv_generated *column, bool v);
void nv_put_datetime(nv_generated *column, nv_time v);
void nv_put_string(nv_generated *column, nv_text v);
void nv_put_binary(nv_generated *column, nv_bytes v);
void nv_put_null(nv_generated *column);
/* Begins a row of an ARRAY or VEC; its elements are put into the column that it returns, until the next row begins. */
nv_generated *nv_put_list(nv_generated *column);
/* Room for count rows of a column of numbers of width bytes each, to be filled in by the caller; none is null. */
void *nv_put_many(nv_generated *column, uint32_t count, uint32_t width);

/* Checks the output and queues it. 0, or a failure with a reason. The output must not be used afterwards. */
int32_t nv_emit(nv_output *output);

/* ---- Rows at once. Entries stay whole; what is not carried is decided. */

typedef bool (*nv_test)(const nv_batch *batch, uint32_t row, void *context);
/* Carries the rows that pass, and acknowledges the others. */
void nv_filter(nv_route *route, const nv_batch *batch, nv_test keep, void *context);

typedef enum nv_fate { NV_CARRY, NV_ACK, NV_NACK, NV_MESSAGE_ERROR } nv_fate;
typedef struct nv_verdict {
  nv_fate fate;
  nv_text reason;
} nv_verdict;

nv_verdict nv_carried(void);
nv_verdict nv_acked(void);
nv_verdict nv_nacked(nv_text reason);
nv_verdict nv_errored(nv_text reason);
/* Decides a row and puts one value into each generated column if it is carried. */
typedef nv_verdict (*nv_mapper)(const nv_batch *batch, uint32_t row, void *context);
void nv_map(nv_route *route, const nv_batch *batch, nv_mapper map, void *context);

/* ---- Failures. Reasons are formatted like nv_format; the host shows at most 4 KiB of them. */

/* Fails the callback: return fail's result. */
int32_t nv_fail(const char *format, ...);
/* Fails the operation though the callback answers 0. */
void nv_report_global_error(const char *format, ...);
/* Ends this instance: the reason, then a trap. */
#ifdef __cplusplus
[[noreturn]]
#else
_Noreturn
#endif
void nv_panic(const char *format, ...);

/* ---- Saved state. Numbers are little-endian; texts and bytes have their length before them. */

typedef struct nv_writer {
  nv_buffer out_;
} nv_writer;

void nv_write_u8(nv_writer *w, uint8_t v);
void nv_write_u32(nv_writer *w, uint32_t v);
void nv_write_u64(nv_writer *w, uint64_t v);
void nv_write_i64(nv_writer *w, int64_t v);
void nv_write_f64(nv_writer *w, double v);
void nv_write_time(nv_writer *w, nv_time v);
void nv_write_bytes(nv_writer *w, nv_bytes v);
void nv_write_text(nv_writer *w, nv_text v);

/* Reads in the same order. Behind the end everything reads as zero, and nv_read_end fails. Texts and bytes are lent. */
typedef struct nv_reader {
  nv_bytes state; /* all of it */
  uint32_t at_;
  bool short_;
} nv_reader;

uint8_t nv_read_u8(nv_reader *r);
uint32_t nv_read_u32(nv_reader *r);
uint64_t nv_read_u64(nv_reader *r);
int64_t nv_read_i64(nv_reader *r);
double nv_read_f64(nv_reader *r);
nv_time nv_read_time(nv_reader *r);
nv_bytes nv_read_bytes(nv_reader *r);
nv_text nv_read_text(nv_reader *r);
/* 0 if the state was read exactly to its end, else a failure with a reason: return it from restore. */
int32_t nv_read_end(nv_reader *r);

/* ---- What you write. Members may be NULL. */

typedef struct nv_guest {
  /* Once, before anything else: check the schemas, keep what you need. An answer below 0 refuses this branch. NULL accepts anything. */
  int32_t (*create)(const nv_init *init);
  int32_t (*process_batch)(const nv_batch *batch);
  /* A timeout asked for by this instance is due. */
  int32_t (*on_timeout)(nv_timeout timeout);
  /* The branch pauses or moves: emit what is buffered, now. */
  int32_t (*flush)(void);
  /* Write what a successor has to know to go on: no buffered rows, entries, tokens or timeouts. Is called after each callback and must not
   * change anything. NULL saves nothing. */
  int32_t (*save_state)(nv_writer *state);
  /* Take over what save_state wrote, after create. Any answer below 0 refuses the state. NULL refuses all state but none. */
  int32_t (*restore)(nv_reader *state);
} nv_guest;

/* Define this in your file. */
extern const nv_guest nervix_guest;

#ifdef __cplusplus
}
#endif
#endif /* NERVIX_GUEST_H */

/* ==================================================================================================================== implementation */
#if defined(NERVIX_GUEST_IMPLEMENTATION) && !defined(NERVIX_GUEST_IMPLEMENTED)
#define NERVIX_GUEST_IMPLEMENTED

#ifndef NERVIX_GUEST_GROW
#define NERVIX_GUEST_GROW (256u * 1024u) /* the least by which memory grows, in bytes */
#endif
#define NV__MAX_MESSAGE (64u << 20)
#ifndef NV__EXPORT /* tests give the functions other names */
#define NV__EXPORT(name) __attribute__((export_name(#name))) name
#endif
#define NV__OUT __attribute__((noinline)) /* not on the way of a row: code size counts */

#ifdef __cplusplus
extern "C" {
#endif

__attribute__((import_module("env"), import_name("nervix_domain_time_nanos"))) int64_t nv__host_now(void);
__attribute__((import_module("env"), import_name("nervix_timeout_after_nanos"))) int64_t nv__host_after(int64_t delay);
__attribute__((import_module("env"), import_name("nervix_request_state_reset"))) int32_t nv__host_reset(void);

/* ---- What the compiler may call. The empty asm keeps it from making these loops calls of themselves. */

__attribute__((weak)) void *memcpy(void *to, const void *from, size_t n) {
  uint8_t *t = (uint8_t *)to;
  const uint8_t *f = (const uint8_t *)from;
  for (; n; n--) {
    *t++ = *f++;
    __asm__ volatile("");
  }
  return to;
}

__attribute__((weak)) void *memmove(void *to, const void *from, size_t n) {
  if ((uintptr_t)to <= (uintptr_t)from) return memcpy(to, from, n);
  for (; n; n--) {
    ((uint8_t *)to)[n - 1] = ((const uint8_t *)from)[n - 1];
    __asm__ volatile("");
  }
  return to;
}

__attribute__((weak)) void *memset(void *to, int v, size_t n) {
  for (uint8_t *t = (uint8_t *)to; n; n--) {
    *t++ = (uint8_t)v;
    __asm__ volatile("");
  }
  return to;
}

__attribute__((weak)) int memcmp(const void *a, const void *b, size_t n) {
  const uint8_t *x = (const uint8_t *)a, *y = (const uint8_t *)b;
  for (; n; n--, x++, y++) {
    if (*x != *y) return *x - *y;
    __asm__ volatile("");
  }
  return 0;
}

/* A bulk copy costs a call into the engine, so short ones are loops. */
static inline void nv__copy(void *to, const void *from, uint32_t n) {
  uint8_t *t = (uint8_t *)to;
  const uint8_t *f = (const uint8_t *)from;
  if (n > 64) {
    __builtin_memcpy(t, f, n);
    return;
  }
  for (; n >= 8; n -= 8, t += 8, f += 8) {
    __builtin_memcpy(t, f, 8);
    __asm__ volatile("");
  }
  for (; n; n--) {
    *t++ = *f++;
    __asm__ volatile("");
  }
}

/* Whether n bytes are the same: schemas are compared with each batch. */
NV__OUT static bool nv__same(const void *a, const void *b, uint32_t n) {
  const uint8_t *x = (const uint8_t *)a, *y = (const uint8_t *)b;
  uint64_t v, w, differ = 0;
  for (; n >= 8; n -= 8, x += 8, y += 8) {
    __builtin_memcpy(&v, x, 8);
    __builtin_memcpy(&w, y, 8);
    differ |= v ^ w;
  }
  for (; n; n--) differ |= (uint64_t)(*x++ ^ *y++);
  return !differ;
}

static inline uint16_t nv__get16(const uint8_t *p) {
  uint16_t v;
  __builtin_memcpy(&v, p, 2);
  return v;
}

static inline uint32_t nv__get32(const uint8_t *p) {
  uint32_t v;
  __builtin_memcpy(&v, p, 4);
  return v;
}

static inline uint64_t nv__get64(const uint8_t *p) {
  uint64_t v;
  __builtin_memcpy(&v, p, 8);
  return v;
}

static inline void nv__put16(uint8_t *p, uint16_t v) { __builtin_memcpy(p, &v, 2); }
static inline void nv__put32(uint8_t *p, uint32_t v) { __builtin_memcpy(p, &v, 4); }
static inline void nv__put64(uint8_t *p, uint64_t v) { __builtin_memcpy(p, &v, 8); }
static inline uint32_t nv__up(uint32_t n, uint32_t to) { return (n + to - 1) & ~(to - 1); }

/* ---- Memory. Blocks have a header of 16 bytes and a size of one of four classes for each power of two; freed ones wait in a list for each
 * class and serve requests of up to a quarter of their size. The last block of the heap grows and shrinks in place. */

extern uint8_t __heap_base;

typedef struct nv__block {
  uint32_t size; /* with the header */
  struct nv__block *next;
  uint32_t unused[2];
} nv__block;

static uint8_t *nv__top, *nv__end;
static nv__block *nv__free[120];

static uint32_t nv__class(uint32_t size) {
  if (size <= 64) return size / 16;
  uint32_t l = 31 - (uint32_t)__builtin_clz(size);
  return 4 + (l - 6) * 4 + ((size >> (l - 2)) & 3);
}

static uint32_t nv__rounded(uint32_t size) {
  uint32_t l = size <= 64 ? 6 : 31 - (uint32_t)__builtin_clz(size);
  return nv__up(size, 1u << (l - 2));
}

NV__OUT static void nv__oom(void) { nv_panic("the guest is out of memory"); }

NV__OUT static void nv__grow_to(uint8_t *end) {
  if (end <= nv__end) return;
  if (end < nv__top) nv__oom();
  uint32_t pages = (uint32_t)__builtin_wasm_memory_size(0);
  uint32_t step = pages * 65536u / 8 > NERVIX_GUEST_GROW ? pages * 65536u / 8 : NERVIX_GUEST_GROW;
  uint32_t need = (uint32_t)(end - nv__end);
  uint32_t more = nv__up(need > step ? need : step, 65536) / 65536;
  if (__builtin_wasm_memory_grow(0, more) == (size_t)-1) nv__oom();
  nv__end += (size_t)more * 65536;
}

/* Takes a freed block for total bytes, header included; NULL if there is none. */
static nv__block *nv__reuse(uint32_t total) {
  nv__block **list = &nv__free[nv__class(total)], *b;
  for (uint32_t i = 0; i < (total < 1024 ? 1 : 9); i++, list++) {
    if ((b = *list)) {
      *list = b->next;
      return b;
    }
  }
  return NULL;
}

NV__OUT void *nv_allocate(uint32_t size) {
  if (size > 0x7fffff00u) nv__oom();
  if (!nv__top) {
    nv__top = (uint8_t *)nv__up((uint32_t)(uintptr_t)&__heap_base, 16);
    nv__end = (uint8_t *)((size_t)__builtin_wasm_memory_size(0) * 65536u);
  }
  uint32_t total = nv__rounded(size + (uint32_t)sizeof(nv__block));
  nv__block *b = nv__reuse(total);
  if (b) return b + 1;
  nv__grow_to(nv__top + total);
  b = (nv__block *)nv__top;
  nv__top += total;
  b->size = total;
  return b + 1;
}

NV__OUT void nv_release(void *memory) {
  if (!memory) return;
  nv__block *b = (nv__block *)memory - 1;
  if ((uint8_t *)b + b->size == nv__top) {
    nv__top = (uint8_t *)b;
    return;
  }
  b->next = nv__free[nv__class(b->size)];
  nv__free[nv__class(b->size)] = b;
}

static uint32_t nv__room(const void *memory) { return ((const nv__block *)memory - 1)->size - (uint32_t)sizeof(nv__block); }

NV__OUT void nv_reserve(nv_buffer *buffer, uint32_t size) {
  if (size <= buffer->capacity - buffer->size) return;
  if (size > 0x7fffff00u - buffer->size) nv__oom();
  uint32_t need = buffer->size + size, want = buffer->capacity * 2 > need ? buffer->capacity * 2 : need;
  if (want < 64) want = 64;
  nv__block *b = buffer->data ? (nv__block *)buffer->data - 1 : NULL;
  uint32_t total = nv__rounded(want + (uint32_t)sizeof *b);
  bool last = b && (uint8_t *)b + b->size == nv__top;
  /* A freed block first: what only ever grew at the end of the heap would leave one more such block behind with every batch. */
  nv__block *freed = last ? nv__reuse(total) : NULL;
  if (last && !freed) {
    nv__grow_to((uint8_t *)b + total);
    nv__top = (uint8_t *)b + total;
    b->size = total;
  } else {
    uint8_t *data = freed ? (uint8_t *)(freed + 1) : (uint8_t *)nv_allocate(want);
    if (buffer->size) nv__copy(data, buffer->data, buffer->size);
    nv_release(buffer->data);
    buffer->data = data;
  }
  buffer->capacity = nv__room(buffer->data);
}

void *nv_extend(nv_buffer *buffer, uint32_t size) {
  if (size > buffer->capacity - buffer->size) nv_reserve(buffer, size);
  void *at = buffer->data + buffer->size;
  buffer->size += size;
  return at;
}

NV__OUT void nv_append(nv_buffer *buffer, const void *data, uint32_t size) {
  if (size) nv__copy(nv_extend(buffer, size), data, size);
}

NV__OUT void nv_buffer_free(nv_buffer *buffer) {
  nv_release(buffer->data);
  buffer->data = NULL;
  buffer->size = buffer->capacity = 0;
}

/* Appends zeros up to a multiple of at most 16. */
NV__OUT static void nv__pad(nv_buffer *b, uint32_t to) {
  uint32_t n = nv__up(b->size, to) - b->size;
  nv_reserve(b, 16);
  nv__put64(b->data + b->size, 0);
  nv__put64(b->data + b->size + 8, 0);
  b->size += n;
}

NV__OUT static uint32_t nv__add32(nv_buffer *b, uint32_t v) {
  nv__put32((uint8_t *)nv_extend(b, 4), v);
  return b->size - 4;
}

/* Memory that is given back when the operation ends. */
static nv_buffer nv__scratch[24]; /* each twice as large as the one before */
static uint32_t nv__scratches;

static void *nv__lend(uint32_t size) {
  size = nv__up(size ? size : 1, 16);
  nv_buffer *b = nv__scratches ? &nv__scratch[nv__scratches - 1] : NULL;
  if (!b || b->capacity - b->size < size) {
    if (nv__scratches == 24) nv__oom();
    uint32_t least = b ? b->capacity * 2 : 1008;
    b = &nv__scratch[nv__scratches++];
    nv_reserve(b, size > least ? size : least);
  }
  return nv_extend(b, size);
}

NV__OUT static void nv__scratch_end(void) {
  while (nv__scratches) nv_buffer_free(&nv__scratch[--nv__scratches]);
}

/* ---- Texts */

nv_text nv_text_of(const char *s) {
  nv_text t = {s, 0};
  while (s && s[t.size]) t.size++;
  return t;
}

bool nv_text_equal(nv_text a, nv_text b) { return a.size == b.size && nv__same(a.data, b.data, a.size); }

NV__OUT static void nv__add_text(nv_buffer *b, const char *s) {
  nv_text t = nv_text_of(s);
  nv_append(b, t.data, t.size);
}

NV__OUT static void nv__add_number(nv_buffer *b, uint64_t v) {
  char digits[20];
  uint32_t n = 20;
  do digits[--n] = (char)('0' + v % 10);
  while (v /= 10);
  nv_append(b, digits + n, 20 - n);
}

static void nv__add_signed(nv_buffer *b, int64_t v) {
  if (v < 0) nv_append(b, "-", 1);
  nv__add_number(b, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

static void nv__format(nv_buffer *b, const char *f, va_list *args) {
  for (; *f; f++) {
    const char *run = f;
    while (*f && *f != '%') f++;
    if (f != run) nv_append(b, run, (uint32_t)(f - run));
    if (!*f) return;
    switch (*++f) {
    case 's': nv__add_text(b, va_arg(*args, const char *)); break;
    case 't': {
      nv_text t = va_arg(*args, nv_text);
      nv_append(b, t.data, t.size);
      break;
    }
    case 'u': nv__add_number(b, va_arg(*args, uint32_t)); break;
    case 'd': nv__add_signed(b, va_arg(*args, int32_t)); break;
    case 'U': nv__add_number(b, va_arg(*args, uint64_t)); break;
    case 'D': nv__add_signed(b, va_arg(*args, int64_t)); break;
    case 0: return;
    default: nv_append(b, f, 1);
    }
  }
}

nv_text nv_format(const char *format, ...) {
  static nv_buffer b;
  b.size = 0;
  va_list args;
  va_start(args, format);
  nv__format(&b, format, &args);
  va_end(args);
  nv_text t = {(char *)nv__lend(b.size), b.size};
  nv__copy((char *)(uintptr_t)t.data, b.data, b.size);
  return t;
}

/* ---- The error channel. A reason latches: until the host has cleared it, no callback runs. */

static nv_buffer nv__reason;

static void nv__latch(const char *format, va_list *args) {
  if (nv__reason.size) return; /* the first reason is the cause */
  nv__format(&nv__reason, format, args);
  if (!nv__reason.size) nv__add_text(&nv__reason, "no reason given");
}

NV__OUT int32_t nv_fail(const char *format, ...) {
  va_list args;
  va_start(args, format);
  nv__latch(format, &args);
  va_end(args);
  return NV_REJECTED;
}

void nv_report_global_error(const char *format, ...) {
  va_list args;
  va_start(args, format);
  nv__latch(format, &args);
  va_end(args);
}

static bool nv__panicking;

NV__OUT void nv_panic(const char *format, ...) {
  if (nv__panicking) __builtin_trap(); /* no memory for the reason */
  nv__panicking = true;
  va_list args;
  va_start(args, format);
  nv__reason.size = 0;
  nv__latch(format, &args);
  va_end(args);
  __builtin_trap();
}

int32_t NV__EXPORT(nervix_global_error_ptr)(void) { return (int32_t)(uintptr_t)nv__reason.data; }
int32_t NV__EXPORT(nervix_global_error_len)(void) { return (int32_t)nv__reason.size; }
int32_t NV__EXPORT(nervix_clear_global_error)(void) {
  nv__reason.size = 0;
  return 0;
}

/* ---- Time */

static int64_t nv__plus(int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) return b < 0 ? INT64_MIN : INT64_MAX;
  return sum;
}

static nv_duration nv__times(int64_t n, int64_t unit) {
  nv_duration d;
  d.nanoseconds_ = n > INT64_MAX / unit ? INT64_MAX : n < INT64_MIN / unit ? INT64_MIN : n * unit;
  return d;
}

nv_duration nv_nanoseconds(int64_t n) { return nv__times(n, 1); }
nv_duration nv_milliseconds(int64_t n) { return nv__times(n, 1000000); }
nv_duration nv_seconds(int64_t n) { return nv__times(n, 1000000000); }
int64_t nv_in_nanoseconds(nv_duration d) { return d.nanoseconds_; }

nv_time nv_time_at(nv_duration since_epoch) {
  nv_time t;
  t.since_epoch_ = since_epoch;
  return t;
}

static nv_time nv__time(int64_t wire) { return nv_time_at(nv_nanoseconds(wire)); }

nv_duration nv_since_epoch(nv_time t) { return t.since_epoch_; }
nv_time nv_time_add(nv_time t, nv_duration d) { return nv__time(nv__plus(t.since_epoch_.nanoseconds_, d.nanoseconds_)); }

nv_duration nv_time_between(nv_time from, nv_time to) {
  int64_t difference, a = from.since_epoch_.nanoseconds_, b = to.since_epoch_.nanoseconds_;
  if (__builtin_sub_overflow(b, a, &difference)) difference = b < a ? INT64_MIN : INT64_MAX;
  return nv_nanoseconds(difference);
}

bool nv_time_before(nv_time a, nv_time b) { return a.since_epoch_.nanoseconds_ < b.since_epoch_.nanoseconds_; }
bool nv_time_equal(nv_time a, nv_time b) { return a.since_epoch_.nanoseconds_ == b.since_epoch_.nanoseconds_; }
nv_time nv_now(void) { return nv__time(nv__host_now()); }

nv_timeout nv_after(nv_duration delay) {
  nv_timeout t;
  t.handle_ = nv__host_after(delay.nanoseconds_);
  return t;
}

nv_timeout nv_no_timeout(void) {
  nv_timeout t = {0};
  return t;
}

bool nv_timeout_set(nv_timeout t) { return t.handle_ > 0; }
bool nv_timeout_equal(nv_timeout a, nv_timeout b) { return a.handle_ == b.handle_; }
bool nv_request_reset(void) { return nv__host_reset() == 0; }
int64_t NV__EXPORT(nervix_current_domain_time_nanos)(void) { return nv__host_now(); }

/* ---- Reading FlatBuffers that may be damaged. A fault sets bad; from then on everything reads as absent. Alignment counts from the first byte
 * of bytes. end is the highest offset that belongs to something. */

typedef struct nv__flat {
  const uint8_t *b;
  uint32_t size, end;
  bool bad, unknown;
} nv__flat;

typedef struct nv__table {
  uint32_t at, vtable, vtable_size, size;
} nv__table;

typedef struct nv__span {
  uint32_t at, count;
} nv__span;

static uint32_t nv__bad(nv__flat *f) {
  f->bad = true;
  return 0;
}

static void nv__saw(nv__flat *f, uint32_t end) {
  if (end > f->end) f->end = end;
}

/* The target of the offset at a place; 0 is nowhere. */
NV__OUT static uint32_t nv__follow(nv__flat *f, uint32_t at) {
  if (f->bad || !at) return 0;
  if (at % 4 || at > f->size - 4) return nv__bad(f);
  uint32_t distance = nv__get32(f->b + at);
  if (!distance || distance % 4 || distance > f->size - 4 - at) return nv__bad(f);
  return at + distance;
}

NV__OUT static nv__table nv__table_at(nv__flat *f, uint32_t at, uint32_t slots) {
  nv__table t = {0, 0, 0, 0};
  if (f->bad || !at) return t;
  int64_t vtable = (int64_t)at - (int32_t)nv__get32(f->b + at);
  if (vtable < 0 || vtable > (int64_t)f->size - 4 || vtable % 2) {
    f->bad = true;
    return t;
  }
  t.at = at;
  t.vtable = (uint32_t)vtable;
  t.vtable_size = nv__get16(f->b + t.vtable);
  t.size = nv__get16(f->b + t.vtable + 2);
  if (t.vtable_size < 4 || t.vtable_size % 2 || t.vtable_size > f->size - t.vtable || t.size < 4 || t.size > f->size - at) f->bad = true;
  for (uint32_t slot = slots; !f->bad && 4 + 2 * slot < t.vtable_size; slot++) {
    if (nv__get16(f->b + t.vtable + 4 + 2 * slot)) f->unknown = true;
  }
  nv__saw(f, t.vtable + t.vtable_size);
  nv__saw(f, at + t.size);
  return t;
}

/* The place of a member; 0 if it is absent. */
NV__OUT static uint32_t nv__member(nv__flat *f, const nv__table *t, uint32_t slot, uint32_t size) {
  if (f->bad || !t->at || 4 + 2 * slot >= t->vtable_size) return 0;
  uint32_t offset = nv__get16(f->b + t->vtable + 4 + 2 * slot);
  if (!offset) return 0;
  if (offset < 4 || offset + size > t->size || (t->at + offset) % size) return nv__bad(f);
  return t->at + offset;
}

NV__OUT static uint32_t nv__number(nv__flat *f, const nv__table *t, uint32_t slot, uint32_t size) {
  uint32_t at = nv__member(f, t, slot, size);
  if (!at) return 0;
  return size == 1 ? f->b[at] : size == 2 ? nv__get16(f->b + at) : nv__get32(f->b + at);
}

static uint64_t nv__number64(nv__flat *f, const nv__table *t, uint32_t slot) {
  uint32_t at = nv__member(f, t, slot, 8);
  return at ? nv__get64(f->b + at) : 0;
}

/* A member that must be there. */
NV__OUT static uint32_t nv__required(nv__flat *f, const nv__table *t, uint32_t slot) {
  uint32_t at = nv__member(f, t, slot, 4);
  return at ? nv__follow(f, at) : nv__bad(f);
}

NV__OUT static nv__table nv__child(nv__flat *f, const nv__table *t, uint32_t slot, uint32_t slots) {
  return nv__table_at(f, nv__required(f, t, slot), slots);
}

NV__OUT static nv__span nv__vector_at(nv__flat *f, uint32_t at, uint32_t size) {
  nv__span s = {0, 0};
  if (f->bad || !at) return s;
  uint32_t n = nv__get32(f->b + at), align = size > 8 ? 8 : size;
  if (n > (f->size - at - 4) / size || (n && (at + 4) % align)) {
    f->bad = true;
    return s;
  }
  s.at = at + 4;
  s.count = n;
  nv__saw(f, s.at + n * size);
  return s;
}

NV__OUT static nv__span nv__vector(nv__flat *f, const nv__table *t, uint32_t slot, uint32_t size) {
  return nv__vector_at(f, nv__required(f, t, slot), size);
}

NV__OUT static nv_text nv__string(nv__flat *f, const nv__table *t, uint32_t slot) {
  nv_text text = {NULL, 0};
  nv__span s = nv__vector(f, t, slot, 1);
  if (f->bad || s.count >= f->size - s.at || f->b[s.at + s.count]) {
    f->bad = true;
    return text;
  }
  nv__saw(f, s.at + s.count + 1);
  text.data = (const char *)f->b + s.at;
  text.size = s.count;
  return text;
}

static void nv__open_flat(nv__flat *f, const uint8_t *b, uint32_t size) {
  f->b = b;
  f->size = size;
  f->end = 0;
  f->unknown = false;
  f->bad = size < 8;
}

/* ---- Messages */

enum { NV__INIT = 1, NV__INPUT = 2, NV__OUTPUT = 3, NV__SNAPSHOT = 4 };

/* Judges length, identifier and variant of a message and finds its payload. */
static nv__table nv__open(nv__flat *f, const uint8_t *message, uint32_t size, uint32_t variant, uint32_t slots) {
  nv__table none = {0, 0, 0, 0};
  nv__open_flat(f, message, size);
  if (size < 12 || nv__get32(message) != size - 4 || !nv__same(message + 8, "NVWY", 4)) f->bad = true;
  nv__table root = nv__table_at(f, nv__follow(f, 4), 2);
  if (nv__number(f, &root, 0, 1) != variant) f->bad = true;
  return f->bad ? none : nv__child(f, &root, 1, slots);
}

/* Nothing may stand behind the message but zero padding, unless a member we do not know may own it. */
static bool nv__closed(nv__flat *f) {
  if (!f->bad && !f->unknown) {
    if (f->size - f->end >= 8) f->bad = true;
    for (uint32_t at = f->end; !f->bad && at < f->size; at++) f->bad = f->b[at] != 0;
  }
  return !f->bad;
}

/* ---- Init */

typedef void *(*nv__taker)(uint32_t size);

static const nv_type nv__scalars[14] = {
  {NV_U8, 0, NULL}, {NV_I8, 0, NULL}, {NV_U16, 0, NULL}, {NV_I16, 0, NULL}, {NV_U32, 0, NULL}, {NV_I32, 0, NULL}, {NV_U64, 0, NULL}, {NV_I64, 0, NULL},
  {NV_BOOL, 0, NULL}, {NV_STRING, 0, NULL}, {NV_BYTES, 0, NULL}, {NV_DATETIME, 0, NULL}, {NV_F32, 0, NULL}, {NV_F64, 0, NULL}};

static const nv_type *nv__read_type(nv__flat *f, nv__table t, nv__taker take, uint32_t depth) {
  uint32_t kind = nv__number(f, &t, 0, 1);
  if (f->bad || kind > NV_VEC || depth > 16) {
    f->bad = true;
    return &nv__scalars[0];
  }
  if (kind < NV_ARRAY) {
    if (nv__member(f, &t, 1, 4)) nv__child(f, &t, 1, 3);
    return &nv__scalars[kind];
  }
  nv_type *type = (nv_type *)take(sizeof *type);
  type->kind = (nv_kind)kind;
  type->length = nv__number(f, &t, 2, 4);
  type->element = nv__read_type(f, nv__child(f, &t, 1, 3), take, depth + 1);
  return type;
}

static void nv__read_schema(nv__flat *f, nv__table t, nv_schema *schema, nv__taker take) {
  schema->name = nv__string(f, &t, 0);
  nv__span fields = nv__vector(f, &t, 1, 4);
  schema->count = f->bad ? 0 : fields.count;
  nv_field *field = (nv_field *)take(schema->count * (uint32_t)sizeof *field);
  schema->fields = field;
  for (uint32_t i = 0; i < schema->count && !f->bad; i++, field++) {
    nv__table one = nv__table_at(f, nv__follow(f, fields.at + 4 * i), 3);
    field->name = nv__string(f, &one, 0);
    field->optional = nv__number(f, &one, 2, 1) != 0;
    field->type = nv__read_type(f, nv__child(f, &one, 1, 3), take, 0);
  }
}

static bool nv__read_init(const uint8_t *message, uint32_t size, nv_init *init, nv__taker take) {
  nv__flat f;
  nv__table t = nv__open(&f, message, size, NV__INIT, 5);
  init->domain_name = nv__string(&f, &t, 0);
  init->domain_type = nv__string(&f, &t, 1);
  uint32_t key = nv__member(&f, &t, 2, 4);
  nv__span bytes = {0, 0};
  if (key) bytes = nv__vector_at(&f, nv__follow(&f, key), 1);
  init->branched = key != 0;
  init->branch_key.data = (const char *)message + bytes.at;
  init->branch_key.size = bytes.count;
  if (key && !bytes.count) f.bad = true;
  nv__read_schema(&f, nv__child(&f, &t, 3, 2), &init->input, take);
  nv__span outputs = nv__vector(&f, &t, 4, 4);
  init->output_count = f.bad ? 0 : outputs.count;
  nv_schema *schema = (nv_schema *)take(init->output_count * (uint32_t)sizeof *schema);
  init->outputs = schema;
  for (uint32_t i = 0; i < init->output_count && !f.bad; i++) {
    nv__read_schema(&f, nv__table_at(&f, nv__follow(&f, outputs.at + 4 * i), 2), &schema[i], take);
  }
  return nv__closed(&f);
}

static bool nv__same_type(const nv_type *a, const nv_type *b) {
  for (; a != b; a = a->element, b = b->element) {
    if (a->kind != b->kind || a->length != b->length) return false;
    if (a->kind < NV_ARRAY) return true;
  }
  return true;
}

bool nv_field_fits(const nv_field *from, const nv_field *to) { return from->optional == to->optional && nv__same_type(from->type, to->type); }

static bool nv__same_schema(const nv_schema *a, const nv_schema *b) {
  if (!nv_text_equal(a->name, b->name) || a->count != b->count) return false;
  for (uint32_t i = 0; i < a->count; i++) {
    const nv_field *x = &a->fields[i], *y = &b->fields[i];
    if (!nv_text_equal(x->name, y->name) || !nv_field_fits(x, y)) return false;
  }
  return true;
}

/* Whether state saved under a belongs to a branch with b: all but the name of the domain agrees. */
static bool nv__same_branch(const nv_init *a, const nv_init *b) {
  if (!nv_text_equal(a->domain_type, b->domain_type) || a->branched != b->branched || !nv_text_equal(a->branch_key, b->branch_key) ||
      !nv__same_schema(&a->input, &b->input) || a->output_count != b->output_count)
    return false;
  for (uint32_t i = 0; i < a->output_count; i++) {
    if (!nv__same_schema(&a->outputs[i], &b->outputs[i])) return false;
  }
  return true;
}

/* The NSPL spelling of a type: axes of nested arrays in one pair of brackets. */
static void nv__spell(nv_buffer *b, const nv_type *t) {
  static const char *const words[] = {"U8", "I8", "U16", "I16", "U32", "I32", "U64", "I64", "BOOL", "STRING", "BYTES", "DATETIME", "F32", "F64"};
  if (t->kind < NV_ARRAY) {
    nv__add_text(b, words[t->kind]);
    return;
  }
  nv__add_text(b, t->kind == NV_VEC ? "VEC<" : "ARRAY<");
  const nv_type *inner = t->element;
  if (t->kind == NV_ARRAY) {
    while (inner->kind == NV_ARRAY) inner = inner->element;
  }
  nv__spell(b, inner);
  for (; t->kind == NV_ARRAY; t = t->element) {
    nv__add_text(b, ", ");
    nv__add_number(b, t->length);
  }
  nv__add_text(b, ">");
}

static void nv__spell_field(nv_buffer *b, const nv_field *field) {
  nv__spell(b, field->type);
  if (field->optional) nv__add_text(b, " OPTIONAL");
}

static nv_text nv__spell_schema(nv_buffer *b, const nv_schema *s) {
  for (uint32_t i = 0; i < s->count; i++) {
    if (i) nv__add_text(b, ", ");
    nv_append(b, s->fields[i].name.data, s->fields[i].name.size);
    nv__add_text(b, " ");
    nv__spell_field(b, &s->fields[i]);
  }
  nv_text t = {(const char *)b->data, b->size};
  return t;
}

static nv_init nv__init;
static nv_buffer nv__init_message;
static bool nv__ready, nv__worked;

const nv_init *nv_the_init(void) { return &nv__init; }

bool nv_schema_is(const nv_schema *schema, const char *fields) {
  nv_buffer b = {NULL, 0, 0};
  bool same = nv_text_equal(nv__spell_schema(&b, schema), nv_text_of(fields));
  nv_buffer_free(&b);
  return same;
}

static int32_t nv__require(const char *what, nv_text name, const nv_schema *schema, const char *fields) {
  if (nv_schema_is(schema, fields)) return NV_OK;
  nv_buffer b = {NULL, 0, 0};
  nv_text have = nv__spell_schema(&b, schema);
  int32_t code = nv_fail("%s %t has the fields (%t), this guest needs (%s)", what, name, have, fields);
  nv_buffer_free(&b);
  return code;
}

int32_t nv_require_input(const char *fields) { return nv__require("the input", nv__init.input.name, &nv__init.input, fields); }

int32_t nv_require_output(const char *relay, const char *fields) {
  for (uint32_t i = 0; i < nv__init.output_count; i++) {
    const nv_schema *s = &nv__init.outputs[i];
    if (!nv_text_equal(s->name, nv_text_of(relay))) continue;
    if (fields) NV_TRY(nv__require("the output", s->name, s, fields));
    return (int32_t)i;
  }
  return nv_fail("the processor has no output %s, which this guest needs", relay);
}

int32_t nv_require_field(const nv_schema *schema, const char *name, const char *type) {
  for (uint32_t i = 0; i < schema->count; i++) {
    const nv_field *field = &schema->fields[i];
    if (!nv_text_equal(field->name, nv_text_of(name))) continue;
    nv_buffer b = {NULL, 0, 0};
    nv__spell_field(&b, field);
    nv_text have = {(const char *)b.data, b.size};
    int32_t code = (int32_t)i;
    if (type && !nv_text_equal(have, nv_text_of(type))) code = nv_fail("field %s of %t is %t, this guest needs %s", name, schema->name, have, type);
    nv_buffer_free(&b);
    return code;
  }
  return nv_fail("%t has no field %s, which this guest needs", schema->name, name);
}

/* ---- Entries */

static nv_entry nv__entry_at(const uint8_t *b, uint32_t at, uint32_t tokens_at, uint32_t source_at) {
  const uint8_t *row = b + at + nv__get32(b + at);
  if (!tokens_at) { /* rows of several layouts; all were judged */
    const uint8_t *vtable = row - (int32_t)nv__get32(row);
    tokens_at = nv__get16(vtable + 4);
    source_at = nv__get16(vtable) > 6 ? nv__get16(vtable + 6) : 0;
  }
  const uint8_t *list = row + tokens_at + nv__get32(row + tokens_at);
  nv_entry e = {(const uint64_t *)(const void *)(list + 4), nv__get32(list), source_at != 0, source_at ? nv__get64(row + source_at) : 0};
  return e;
}

nv_entry nv_entry_of(const nv_batch *batch, uint32_t row) {
  if (row >= batch->rows) nv_panic("row %u of a batch of %u rows", row, batch->rows);
  return nv__entry_at(batch->message_, batch->entries_ + 4 * row, batch->tokens_at_, batch->source_at_);
}

/* Whether n rows follow one another in tables of 32 bytes, each with one token, as the host writes them. offsets is the place of the first
 * row's offset, row that of its table, whose layout was judged: tokens at 4, source at 8. */
static bool nv__even_rows(nv__flat *f, uint32_t offsets, uint32_t row, uint32_t vtable, uint32_t n) {
  if (row % 8 || n > (f->size - row) / 32) return false;
  const uint8_t *o = f->b + offsets, *r = f->b + row;
  uint32_t distance = row - offsets, back = row - vtable, differ = 0;
  for (uint32_t i = 0; i < n; i++, o += 4, r += 32, distance += 28, back += 32) {
    differ |= (nv__get32(o) ^ distance) | (nv__get32(r) ^ back) | (nv__get32(r + 4) ^ 16) | (nv__get32(r + 20) ^ 1);
  }
  if (!differ) nv__saw(f, row + 32 * n);
  return !differ;
}

/* Passes over rows that have the layout of the row before and one token, and stops before the first other. */
static uint32_t nv__plain_rows(nv__flat *f, uint32_t at, uint32_t n, const nv__table *known, uint32_t tokens_at) {
  const uint8_t *b = f->b;
  uint32_t passed = 0, end = f->end, inlined = known->size < 12 ? 12 : known->size;
  if (inlined > f->size) return 0;
  uint32_t last = f->size - inlined;
  for (; passed < n; passed++, at += 4) {
    uint32_t row = at + nv__get32(b + at);
    if (row <= at || row > last || row % 8 || row - nv__get32(b + row) != known->vtable) break;
    uint32_t list = row + tokens_at + nv__get32(b + row + tokens_at);
    if (list <= row || list > last || list % 8 != 4 || nv__get32(b + list) != 1) break;
    if (row + known->size > end) end = row + known->size;
    if (list + 12 > end) end = list + 12;
  }
  f->end = end;
  return passed;
}

static void nv__read_entries(nv__flat *f, const nv__table *sidecar, nv_batch *batch) {
  nv__span rows = nv__vector(f, sidecar, 0, 4);
  nv__table known = {0, 0, 0, 0};
  uint32_t tokens_at = 0, source_at = 0;
  bool uniform = true;
  for (uint32_t i = 0; i < rows.count && !f->bad; i++) {
    if (i == 1 && tokens_at == 4 && source_at == 8 && known.size == 16 && nv__even_rows(f, rows.at, known.at, known.vtable, rows.count)) break;
    if (known.at && known.at % 8 == 0) {
      i += nv__plain_rows(f, rows.at + 4 * i, rows.count - i, &known, tokens_at);
      if (i == rows.count) break;
    }
    nv__table row = nv__table_at(f, nv__follow(f, rows.at + 4 * i), 2);
    nv__vector(f, &row, 0, 8);
    uint32_t tokens = nv__member(f, &row, 0, 4) - row.at, source = nv__member(f, &row, 1, 8);
    source = source ? source - row.at : 0;
    uniform = uniform && (!i || (tokens == tokens_at && source == source_at));
    known = row;
    tokens_at = tokens;
    source_at = source;
  }
  batch->entries_ = rows.at;
  batch->rows = rows.count;
  batch->tokens_at_ = uniform ? tokens_at : 0;
  batch->source_at_ = source_at;
}

static void nv__read_sets(nv__flat *f, const nv__table *sidecar, uint32_t slot) {
  nv__span sets = nv__vector(f, sidecar, slot, 4);
  for (uint32_t i = 0; i < sets.count && !f->bad; i++) {
    nv__table set = nv__table_at(f, nv__follow(f, sets.at + 4 * i), slot == 1 ? 1 : 2);
    nv__vector(f, &set, 0, 8);
    if (slot != 1) nv__string(f, &set, 1);
  }
}

typedef struct nv__held_entry {
  uint64_t source;
  uint32_t first, count, has_source, unused;
} nv__held_entry;

void nv_hold(nv_held *held, nv_entry entry) {
  nv__held_entry *e = (nv__held_entry *)nv_extend(&held->entries_, sizeof *e);
  e->source = entry.source;
  e->first = held->tokens_.size / 8;
  e->count = entry.count;
  e->has_source = entry.has_source;
  nv_append(&held->tokens_, entry.tokens, entry.count * 8);
}

uint32_t nv_held_count(const nv_held *held) { return held->entries_.size / (uint32_t)sizeof(nv__held_entry); }

nv_entry nv_held_entry(const nv_held *held, uint32_t i) {
  if (i >= nv_held_count(held)) nv_panic("entry %u of %u held ones", i, nv_held_count(held));
  const nv__held_entry *e = (const nv__held_entry *)(const void *)held->entries_.data + i;
  nv_entry entry = {(const uint64_t *)(const void *)held->tokens_.data + e->first, e->count, e->has_source != 0, e->source};
  return entry;
}

void nv_held_clear(nv_held *held) { held->entries_.size = held->tokens_.size = 0; }

/* ---- Arrow: one stream of a schema and a record batch */

enum { NV__ARROW_INT = 2, NV__ARROW_FLOAT, NV__ARROW_BINARY, NV__ARROW_UTF8, NV__ARROW_BOOL, NV__ARROW_TIMESTAMP = 10, NV__ARROW_LIST = 12, NV__ARROW_FIXED = 16 };
enum { NV__SCHEMA = 1, NV__BATCH = 3 };

static const uint8_t nv__arrow_types[16] = {
  NV__ARROW_INT, NV__ARROW_INT, NV__ARROW_INT, NV__ARROW_INT, NV__ARROW_INT, NV__ARROW_INT, NV__ARROW_INT, NV__ARROW_INT,
  NV__ARROW_BOOL, NV__ARROW_UTF8, NV__ARROW_BINARY, NV__ARROW_TIMESTAMP, NV__ARROW_FLOAT, NV__ARROW_FLOAT, NV__ARROW_FIXED, NV__ARROW_LIST};
/* Bytes of a value; 0 where values have no width. */
static const uint8_t nv__widths[16] = {1, 1, 2, 2, 4, 4, 8, 8, 0, 0, 0, 8, 4, 8, 0, 0};

typedef struct nv__arrow {
  nv__flat meta;
  nv__table header;
  nv_bytes body;
} nv__arrow;

/* Takes the next message of a stream apart and moves on. */
static bool nv__next_message(nv_bytes *stream, uint32_t kind, uint32_t slots, nv__arrow *m) {
  const uint8_t *b = stream->data;
  if (stream->size < 16 || nv__get32(b) != 0xffffffffu) return false;
  uint32_t size = nv__get32(b + 4);
  if (size % 8 || size < 8 || size > stream->size - 8) return false;
  nv__open_flat(&m->meta, b + 8, size);
  uint32_t at = nv__get32(b + 8);
  if (at % 4 || at < 4 || at > size - 4) return false;
  nv__table root = nv__table_at(&m->meta, at, 5);
  uint64_t body = nv__number64(&m->meta, &root, 3);
  if (nv__number(&m->meta, &root, 1, 1) != kind || body % 8 || body > stream->size - 8 - size) return false;
  m->header = nv__child(&m->meta, &root, 2, slots);
  m->body.data = b + 8 + size;
  m->body.size = (uint32_t)body;
  stream->data = m->body.data + body;
  stream->size -= 8 + size + (uint32_t)body;
  return !m->meta.bad;
}

static bool nv__check_field(nv__flat *f, nv__table t, const nv_type *type, bool optional) {
  nv__table detail = nv__child(f, &t, 3, 2);
  if (f->bad || (nv__number(f, &t, 1, 1) != 0) != optional || nv__number(f, &t, 2, 1) != nv__arrow_types[type->kind] || nv__member(f, &t, 4, 4)) return false;
  uint32_t number = nv__number(f, &detail, 0, type->kind == NV_DATETIME || type->kind == NV_F32 || type->kind == NV_F64 ? 2 : 4);
  switch (type->kind) {
  case NV_BOOL: case NV_STRING: case NV_BYTES: break;
  case NV_F32: return !f->bad && number == 1;
  case NV_F64: return !f->bad && number == 2;
  case NV_DATETIME: return number == 3 && nv_text_equal(nv__string(f, &detail, 1), nv_text_of("+00:00")) && !f->bad;
  case NV_ARRAY:
    if (number != type->length) return false;
    /* fall through */
  case NV_VEC: {
    nv__span children = nv__vector(f, &t, 5, 4);
    return !f->bad && children.count == 1 && nv__check_field(f, nv__table_at(f, nv__follow(f, children.at), 7), type->element, false);
  }
  default: return !f->bad && number == 8u * nv__widths[type->kind] && nv__number(f, &detail, 1, 1) == (type->kind & 1);
  }
  return !f->bad;
}

static nv_buffer nv__input_schema; /* the schema message that was found right */

static bool nv__check_schema(nv_bytes *stream) {
  nv_bytes whole = *stream;
  if (nv__input_schema.size && whole.size >= nv__input_schema.size && nv__same(whole.data, nv__input_schema.data, nv__input_schema.size)) {
    stream->data += nv__input_schema.size;
    stream->size -= nv__input_schema.size;
    return true;
  }
  nv__arrow m;
  if (!nv__next_message(stream, NV__SCHEMA, 4, &m) || m.body.size || nv__number(&m.meta, &m.header, 0, 2)) return false;
  nv__span fields = nv__vector(&m.meta, &m.header, 1, 4);
  if (m.meta.bad || fields.count != nv__init.input.count) return false;
  for (uint32_t i = 0; i < fields.count; i++) {
    const nv_field *want = &nv__init.input.fields[i];
    if (!nv__check_field(&m.meta, nv__table_at(&m.meta, nv__follow(&m.meta, fields.at + 4 * i), 7), want->type, want->optional)) return false;
  }
  nv__input_schema.size = 0;
  nv_append(&nv__input_schema, whole.data, whole.size - stream->size);
  return true;
}

typedef struct nv__walk {
  const uint8_t *meta;
  uint32_t node, nodes_end, buffer, buffers_end;
  nv_bytes body;
  nv_column *spare; /* for elements */
} nv__walk;

static bool nv__next_buffer(nv__walk *w, nv_bytes *out) {
  if (w->buffer == w->buffers_end) return false;
  uint64_t at = nv__get64(w->meta + w->buffer), size = nv__get64(w->meta + w->buffer + 8);
  w->buffer += 16;
  if (at % 8 || at > w->body.size || size > w->body.size - at) return false;
  out->data = w->body.data + at;
  out->size = (uint32_t)size;
  return true;
}

static const int32_t nv__no_offsets[1] = {0};

/* Offsets that rise and end inside what they name. */
static bool nv__take_offsets(nv__walk *w, nv_column *c) {
  nv_bytes raw;
  if (!nv__next_buffer(w, &raw)) return false;
  c->offsets = nv__no_offsets;
  if (!c->rows && !raw.size) return true;
  if (raw.size / 4 <= c->rows) return false;
  c->offsets = (const int32_t *)(const void *)raw.data;
  int32_t before = c->offsets[0], falling = before;
  for (uint32_t i = 1; i <= c->rows; i++) {
    falling |= c->offsets[i] | (c->offsets[i] - before);
    before = c->offsets[i];
  }
  return falling >= 0;
}

/* Elements may be null below a null ARRAY: Arrow libraries write it so. */
static bool nv__take_column(nv__walk *w, const nv_type *type, bool optional, uint32_t rows, bool exact, nv_column *c) {
  if (w->node == w->nodes_end) return false;
  uint64_t length = nv__get64(w->meta + w->node), nulls = nv__get64(w->meta + w->node + 8);
  w->node += 16;
  if (length < rows || (exact && length != rows) || length > 0x7fffffffu || nulls > length || (nulls && !optional)) return false;
  nv_bytes b, none = {NULL, 0};
  if (!nv__next_buffer(w, &b) || ((nulls || b.size) && b.size < (length + 7) / 8)) return false;
  c->type = type;
  c->rows = (uint32_t)length;
  c->nulls = (uint32_t)nulls;
  c->validity = nulls ? b.data : NULL;
  c->values = NULL;
  c->offsets = NULL;
  c->data = none;
  c->element = NULL;
  switch (type->kind) {
  case NV_STRING: case NV_BYTES:
    return nv__take_offsets(w, c) && nv__next_buffer(w, &c->data) && (uint32_t)c->offsets[c->rows] <= c->data.size;
  case NV_VEC:
    if (!nv__take_offsets(w, c)) return false;
    c->element = w->spare;
    return nv__take_column(w, type->element, true, (uint32_t)c->offsets[c->rows], false, w->spare++);
  case NV_ARRAY:
    if (length * type->length > 0x7fffffffu) return false;
    c->element = w->spare;
    return nv__take_column(w, type->element, true, c->rows * type->length, true, w->spare++);
  default:
    if (!nv__next_buffer(w, &b) || b.size < (type->kind == NV_BOOL ? (length + 7) / 8 : length * nv__widths[type->kind])) return false;
    c->values = b.data;
    return true;
  }
}

static nv_column *nv__columns; /* those of the input, and behind them the elements of all of them */

static void nv__make_columns(void) {
  uint32_t n = nv__init.input.count;
  for (uint32_t i = 0; i < nv__init.input.count; i++) {
    for (const nv_type *t = nv__init.input.fields[i].type; t->element; t = t->element) n++;
  }
  nv_release(nv__columns);
  nv__columns = (nv_column *)nv_allocate(n * (uint32_t)sizeof(nv_column));
}

static bool nv__read_arrow(nv_bytes stream, nv_batch *batch) {
  if ((uintptr_t)stream.data % 8) { /* another host's layout */
    uint8_t *copy = (uint8_t *)nv__lend(stream.size);
    nv__copy(copy, stream.data, stream.size);
    stream.data = copy;
  }
  nv__arrow m;
  if (!nv__check_schema(&stream) || !nv__next_message(&stream, NV__BATCH, 4, &m)) return false;
  if (stream.size && (stream.size != 8 || nv__get32(stream.data) != 0xffffffffu || nv__get32(stream.data + 4))) return false;
  uint64_t rows = nv__number64(&m.meta, &m.header, 0);
  nv__span nodes = nv__vector(&m.meta, &m.header, 1, 16), buffers = nv__vector(&m.meta, &m.header, 2, 16);
  if (m.meta.bad || rows != batch->rows || nv__member(&m.meta, &m.header, 3, 4)) return false;
  nv__walk w = {m.meta.b, nodes.at, nodes.at + 16 * nodes.count, buffers.at, buffers.at + 16 * buffers.count, m.body, nv__columns + nv__init.input.count};
  for (uint32_t i = 0; i < nv__init.input.count; i++) {
    const nv_field *field = &nv__init.input.fields[i];
    if (!nv__take_column(&w, field->type, field->optional, batch->rows, true, &nv__columns[i])) return false;
  }
  batch->columns = nv__columns;
  batch->count = nv__init.input.count;
  return w.node == w.nodes_end && w.buffer == w.buffers_end;
}

/* ---- Values of an input column */

static inline void nv__check(const nv_column *c, nv_kind kind, uint32_t row) {
  if (c->type->kind != kind) nv_panic("a column of kind %u is read as one of kind %u", (uint32_t)c->type->kind, (uint32_t)kind);
  if (row >= c->rows) nv_panic("row %u of a column of %u rows", row, c->rows);
}

bool nv_is_null(const nv_column *c, uint32_t row) {
  if (row >= c->rows) nv_panic("row %u of a column of %u rows", row, c->rows);
  return c->validity && !(c->validity[row / 8] >> (row % 8) & 1);
}

#define NV__VALUE(name, ctype, kind)                     \
  ctype name(const nv_column *column, uint32_t row) {    \
    nv__check(column, kind, row);                        \
    return ((const ctype *)(const void *)column->values)[row]; \
  }
NV__VALUE(nv_u8, uint8_t, NV_U8)
NV__VALUE(nv_i8, int8_t, NV_I8)
NV__VALUE(nv_u16, uint16_t, NV_U16)
NV__VALUE(nv_i16, int16_t, NV_I16)
NV__VALUE(nv_u32, uint32_t, NV_U32)
NV__VALUE(nv_i32, int32_t, NV_I32)
NV__VALUE(nv_u64, uint64_t, NV_U64)
NV__VALUE(nv_i64, int64_t, NV_I64)
NV__VALUE(nv_f32, float, NV_F32)
NV__VALUE(nv_f64, double, NV_F64)
#undef NV__VALUE

bool nv_bool(const nv_column *c, uint32_t row) {
  nv__check(c, NV_BOOL, row);
  return c->values[row / 8] >> (row % 8) & 1;
}

nv_time nv_datetime(const nv_column *c, uint32_t row) {
  nv__check(c, NV_DATETIME, row);
  return nv__time(((const int64_t *)(const void *)c->values)[row]);
}

nv_text nv_string(const nv_column *c, uint32_t row) {
  nv__check(c, NV_STRING, row);
  nv_text t = {(const char *)c->data.data + c->offsets[row], (uint32_t)(c->offsets[row + 1] - c->offsets[row])};
  return t;
}

nv_bytes nv_binary(const nv_column *c, uint32_t row) {
  nv__check(c, NV_BYTES, row);
  nv_bytes b = {c->data.data + c->offsets[row], (uint32_t)(c->offsets[row + 1] - c->offsets[row])};
  return b;
}

nv_list nv_elements(const nv_column *c, uint32_t row) {
  nv__check(c, c->type->kind == NV_ARRAY ? NV_ARRAY : NV_VEC, row);
  nv_list l = {row * c->type->length, c->type->length};
  if (c->type->kind == NV_VEC) {
    l.first = (uint32_t)c->offsets[row];
    l.count = (uint32_t)c->offsets[row + 1] - l.first;
  }
  return l;
}

/* ---- Output */

struct nv_generated {
  nv_output *owner;
  nv_generated *next, *element;
  const nv_type *type;
  bool optional, used;
  uint32_t index, rows, nulls;
  nv_buffer validity, values, data; /* values: numbers, bits, or offsets: ends of texts, begins of lists */
};

struct nv_route {
  nv_output *owner;
  nv_route *next;
  const nv_schema *relay;
  uint32_t rows, sourceless, rows_at, sidecar_at;
  nv_buffer columns;         /* pairs of source and index */
  nv_buffer records;         /* the tables of the rows as they go into the message, but for the distance to their vtable */
  const nv_batch *all;       /* all rows of this batch instead */
  const nv_route *same;      /* the rows of this route instead */
  nv_buffer acked;           /* tokens */
  nv_buffer nacked, errors;  /* count of tokens, length of reason, tokens, reason; to a multiple of 8 */
};

struct nv_output {
  nv_output *next;
  nv_route *routes, *last;
  nv_generated *columns, *last_column;
  uint32_t generated;
  const char *wrong; /* the first mistake of the guest */
};

static nv_output *nv__outputs;

static void nv__free_columns(nv_generated *g) {
  while (g) {
    nv_generated *next = g->next;
    nv__free_columns(g->element);
    nv_buffer_free(&g->data);
    nv_buffer_free(&g->values);
    nv_buffer_free(&g->validity);
    nv_release(g);
    g = next;
  }
}

static void nv__free_output(nv_output *o) {
  nv__free_columns(o->columns);
  for (nv_route *r = o->routes, *next; r; r = next) {
    next = r->next;
    nv_buffer_free(&r->errors);
    nv_buffer_free(&r->nacked);
    nv_buffer_free(&r->acked);
    nv_buffer_free(&r->records);
    nv_buffer_free(&r->columns);
    nv_release(r);
  }
  nv_release(o);
}

static void *nv__zeroed(uint32_t size) {
  uint64_t *p = (uint64_t *)nv_allocate(nv__up(size, 8));
  for (uint32_t i = 0; i < (size + 7) / 8; i++) p[i] = 0;
  return p;
}

NV__OUT static void nv__wrong(nv_output *o, const char *what) {
  if (!o->wrong) o->wrong = what;
}

nv_output *nv_output_new(void) {
  nv_output *o = (nv_output *)nv__zeroed(sizeof *o);
  o->next = nv__outputs;
  nv__outputs = o;
  return o;
}

static nv_generated *nv__new_column(nv_output *o, const nv_type *type, bool optional) {
  nv_generated *g = (nv_generated *)nv__zeroed(sizeof *g);
  g->owner = o;
  g->type = type;
  g->optional = optional;
  if (type->kind == NV_STRING || type->kind == NV_BYTES) nv__add32(&g->values, 0);
  if (type->element) g->element = nv__new_column(o, type->element, false);
  return g;
}

static const nv_schema *nv__relay(int32_t relay) {
  if (relay < 0 || (uint32_t)relay >= nv__init.output_count) nv_panic("output %d of a processor that has %u", relay, nv__init.output_count);
  return &nv__init.outputs[relay];
}

nv_generated *nv_generate_at(nv_output *o, int32_t relay, uint32_t field) {
  const nv_schema *s = nv__relay(relay);
  if (field >= s->count) nv_panic("field %u of %t, which has %u", field, s->name, s->count);
  nv_generated *g = nv__new_column(o, s->fields[field].type, s->fields[field].optional);
  g->index = o->generated++;
  *(o->columns ? &o->last_column->next : &o->columns) = g;
  o->last_column = g;
  return g;
}

nv_generated *nv_generate(nv_output *o, int32_t relay, const char *field) {
  const nv_schema *s = nv__relay(relay);
  for (uint32_t i = 0; i < s->count; i++) {
    if (nv_text_equal(s->fields[i].name, nv_text_of(field))) return nv_generate_at(o, relay, i);
  }
  nv_panic("%t has no field %s", s->name, field);
}

nv_route *nv_route_to(nv_output *o, int32_t relay) {
  nv_route *r = (nv_route *)nv__zeroed(sizeof *r);
  r->owner = o;
  r->relay = nv__relay(relay);
  *(o->routes ? &o->last->next : &o->routes) = r;
  o->last = r;
  return r;
}

enum { NV__FROM_INPUT, NV__FROM_GENERATED, NV__FROM_NOTHING };

/* The next column of a route, which is field i of the relay. */
static void nv__add_column(nv_route *r, uint32_t source, uint32_t index, const nv_type *type, bool optional) {
  uint32_t i = r->columns.size / 8;
  if (i >= r->relay->count) {
    nv__wrong(r->owner, "a route has more columns than its relay has fields");
    return;
  }
  const nv_field *f = &r->relay->fields[i];
  if (type && (f->optional != optional || !nv__same_type(f->type, type))) nv__wrong(r->owner, "a column has another type or nullability than its field");
  nv__add32(&r->columns, source);
  nv__add32(&r->columns, index);
}

void nv_from_input(nv_route *r, uint32_t column) {
  if (column >= nv__init.input.count) {
    nv__wrong(r->owner, "a route takes a column that the input does not have");
    return;
  }
  nv__add_column(r, NV__FROM_INPUT, column, nv__init.input.fields[column].type, nv__init.input.fields[column].optional);
}

void nv_from_generated(nv_route *r, nv_generated *g) {
  if (g->owner != r->owner) {
    nv__wrong(r->owner, "a route takes a generated column of another output");
    return;
  }
  g->used = true;
  nv__add_column(r, NV__FROM_GENERATED, g->index, g->type, g->optional);
}

void nv_from_nothing(nv_route *r) { nv__add_column(r, NV__FROM_NOTHING, 0, NULL, false); }

/* The table of a row: 16 bytes, 4 of padding, and the vector of its tokens. Its first member tells until nv_emit whether it has a source. */
static void nv__add_record(nv_route *r, nv_entry e) {
  uint8_t *at = (uint8_t *)nv_extend(&r->records, 24 + 8 * e.count);
  nv__put32(at, e.has_source);
  nv__put32(at + 4, 16);
  nv__put64(at + 8, e.source);
  nv__put32(at + 16, 0);
  nv__put32(at + 20, e.count);
  if (e.count == 1) nv__put64(at + 24, e.tokens[0]);
  else nv__copy(at + 24, e.tokens, 8 * e.count);
  r->rows++;
  r->sourceless += !e.has_source;
}

static void nv__spread(nv_route *r) {
  const nv_batch *b = r->all;
  r->all = NULL;
  r->rows = 0;
  nv_reserve(&r->records, 32 * b->rows);
  for (uint32_t i = 0; i < b->rows; i++) nv__add_record(r, nv_entry_of(b, i));
}

static bool nv__may_carry(nv_route *r) {
  if (r->same) nv__wrong(r->owner, "a route with the rows of another one is given rows of its own");
  return !r->same;
}

void nv_carry(nv_route *r, nv_entry e) {
  if (!nv__may_carry(r)) return;
  if (r->all) nv__spread(r);
  nv__add_record(r, e);
}

void nv_carry_all(nv_route *r, const nv_batch *b) {
  if (!nv__may_carry(r)) return;
  if (!r->rows && !r->all && b->entries_end_) {
    r->all = b;
    r->rows = b->rows;
    return;
  }
  if (r->all) nv__spread(r);
  nv_reserve(&r->records, 32 * b->rows);
  for (uint32_t i = 0; i < b->rows; i++) nv__add_record(r, nv_entry_of(b, i));
}

void nv_carry_same(nv_route *r, const nv_route *other) {
  if (r->rows || r->owner != other->owner || r == other || other->same) {
    nv__wrong(r->owner, "a route takes over rows that it cannot have");
    return;
  }
  r->same = other;
}

void nv_ack(nv_route *r, nv_entry e) { nv_append(&r->acked, e.tokens, 8 * e.count); }

static void nv__add_set(nv_buffer *b, nv_entry e, nv_text reason) {
  nv__add32(b, e.count);
  nv__add32(b, reason.size);
  nv_append(b, e.tokens, 8 * e.count);
  nv_append(b, reason.data, reason.size);
  nv__pad(b, 8);
}

void nv_nack(nv_route *r, nv_entry e, nv_text reason) { nv__add_set(&r->nacked, e, reason); }
void nv_message_error(nv_route *r, nv_entry e, nv_text reason) { nv__add_set(&r->errors, e, reason); }

/* ---- Generated values */

static bool nv__of_kind(nv_generated *g, nv_kind kind) {
  if (g->type->kind != kind) nv__wrong(g->owner, "a value of another type is put into a generated column");
  return g->type->kind == kind;
}

/* Sets or clears bit n - 1 of a bitmap that has n bits from now on. */
static void nv__push_bit(nv_buffer *b, uint32_t n, bool bit) {
  if ((n - 1) / 8 >= b->size) *(uint8_t *)nv_extend(b, 1) = 0;
  if (bit) b->data[(n - 1) / 8] |= (uint8_t)(1u << ((n - 1) % 8));
}

static void nv__add_row(nv_generated *g, bool valid) {
  g->rows++;
  if (valid && !g->nulls) return;
  if (!g->nulls) {
    for (uint32_t i = 1; i < g->rows; i++) nv__push_bit(&g->validity, i, true);
  }
  nv__push_bit(&g->validity, g->rows, valid);
  g->nulls += !valid;
}

#define NV__PUT(name, ctype, kind)                                                \
  void name(nv_generated *g, ctype v) {                                           \
    if (!nv__of_kind(g, kind)) return;                                            \
    __builtin_memcpy(nv_extend(&g->values, (uint32_t)sizeof v), &v, sizeof v);    \
    nv__add_row(g, true);                                                         \
  }
NV__PUT(nv_put_u8, uint8_t, NV_U8)
NV__PUT(nv_put_i8, int8_t, NV_I8)
NV__PUT(nv_put_u16, uint16_t, NV_U16)
NV__PUT(nv_put_i16, int16_t, NV_I16)
NV__PUT(nv_put_u32, uint32_t, NV_U32)
NV__PUT(nv_put_i32, int32_t, NV_I32)
NV__PUT(nv_put_u64, uint64_t, NV_U64)
NV__PUT(nv_put_i64, int64_t, NV_I64)
NV__PUT(nv_put_f32, float, NV_F32)
NV__PUT(nv_put_f64, double, NV_F64)
#undef NV__PUT

void nv_put_datetime(nv_generated *g, nv_time v) {
  if (!nv__of_kind(g, NV_DATETIME)) return;
  nv__put64((uint8_t *)nv_extend(&g->values, 8), (uint64_t)v.since_epoch_.nanoseconds_);
  nv__add_row(g, true);
}

void nv_put_bool(nv_generated *g, bool v) {
  if (!nv__of_kind(g, NV_BOOL)) return;
  nv__add_row(g, true);
  nv__push_bit(&g->values, g->rows, v);
}

static void nv__put_data(nv_generated *g, const void *data, uint32_t size) {
  nv_append(&g->data, data, size);
  nv__add32(&g->values, g->data.size);
  nv__add_row(g, true);
}

void nv_put_string(nv_generated *g, nv_text v) {
  if (nv__of_kind(g, NV_STRING)) nv__put_data(g, v.data, v.size);
}

void nv_put_binary(nv_generated *g, nv_bytes v) {
  if (nv__of_kind(g, NV_BYTES)) nv__put_data(g, v.data, v.size);
}

nv_generated *nv_put_list(nv_generated *g) {
  if (!g->element) {
    nv__wrong(g->owner, "a list is put into a generated column that has none");
    return g;
  }
  if (g->type->kind == NV_ARRAY && g->element->rows != g->rows * g->type->length) nv__wrong(g->owner, "a row of an ARRAY has another number of elements than its type");
  nv__add32(&g->values, g->element->rows);
  nv__add_row(g, true);
  return g->element;
}

/* What stands behind a null, and in the elements of a null ARRAY. */
static void nv__put_zero(nv_generated *g) {
  nv_kind kind = g->type->kind;
  if (kind == NV_STRING || kind == NV_BYTES) nv__add32(&g->values, g->data.size);
  else if (kind == NV_BOOL) nv__push_bit(&g->values, g->rows + 1, false);
  else if (g->element) {
    nv__add32(&g->values, g->element->rows);
    for (uint32_t i = 0; kind == NV_ARRAY && i < g->type->length; i++) {
      nv__put_zero(g->element);
      nv__add_row(g->element, true);
    }
  } else {
    static const uint64_t zero = 0;
    nv_append(&g->values, &zero, nv__widths[kind]);
  }
}

void nv_put_null(nv_generated *g) {
  if (!g->optional) {
    nv__wrong(g->owner, "a null is put into a generated column that is not optional");
    return;
  }
  nv__put_zero(g);
  nv__add_row(g, false);
}

void *nv_put_many(nv_generated *g, uint32_t count, uint32_t width) {
  if (!width || nv__widths[g->type->kind] != width || count > 0x7fffffffu / width) nv_panic("nv_put_many with a width of %u", width);
  for (uint32_t i = 0; g->nulls && i < count; i++) nv__add_row(g, true);
  if (!g->nulls) g->rows += count;
  return nv_extend(&g->values, count * width);
}

/* ---- Writing messages from front to back: members that refer to something are filled in when it is there. */

NV__OUT static void nv__add16s(nv_buffer *b, const uint16_t *v, uint32_t n) { nv_append(b, v, 2 * n); }

/* Points the member at a place to what is appended next. */
static void nv__point(nv_buffer *b, uint32_t at) { nv__put32(b->data + at, b->size - at); }

/* Begins a table of size bytes, all zero but for the distance to its vtable. */
NV__OUT static uint32_t nv__add_table(nv_buffer *b, uint32_t vtable, uint32_t size) {
  uint32_t at = b->size;
  uint8_t *t = (uint8_t *)nv_extend(b, size);
  for (uint32_t i = 0; i < size; i += 4) nv__put32(t + i, 0);
  nv__put32(t, at - vtable);
  return at;
}

/* A text with its length and end, padded to 4. */
NV__OUT static void nv__add_string(nv_buffer *b, nv_text s) {
  nv__add32(b, s.size);
  nv_append(b, s.data, s.size);
  *(uint8_t *)nv_extend(b, 1) = 0;
  nv__pad(b, 4);
}

/* Begins a vector of offsets; the first element is at the result. */
NV__OUT static uint32_t nv__add_offsets(nv_buffer *b, uint32_t n) {
  nv__add32(b, n);
  return (uint32_t)((uint8_t *)nv_extend(b, 4 * n) - b->data);
}

/* Appends a vector of tokens. */
static void nv__add_tokens(nv_buffer *b, const void *tokens, uint32_t n) {
  if (b->size % 8 == 0) nv__add32(b, 0);
  nv__add32(b, n);
  nv_append(b, tokens, 8 * n);
}

/* ---- The generated batch */

enum { NV__VT_MESSAGE = 4, NV__VT_ONE = 16, NV__VT_HEADER = 24 }; /* places in the metadata */

/* Begins the metadata of an Arrow message; the result is where it begins. The header is appended next. */
static uint32_t nv__begin_meta(nv_buffer *b, uint32_t kind, uint64_t body, const uint16_t *header_vtable, uint32_t n) {
  static const uint16_t message[] = {12, 20, 16, 18, 4, 8, 6, 8, 4, 0}; /* Message, and a table of one member */
  nv__add32(b, 0xffffffffu);
  nv__add32(b, 0); /* length, see nv__end_meta */
  uint32_t meta = b->size;
  nv__add32(b, 0);
  nv__add16s(b, message, 10);
  nv__add16s(b, header_vtable, n);
  nv__pad(b, 8);
  nv__put32(b->data + meta, b->size - meta);
  uint32_t t = nv__add_table(b, meta + NV__VT_MESSAGE, 20);
  nv__put64(b->data + t + 8, body);
  nv__put16(b->data + t + 16, 4); /* metadata version 5 */
  b->data[t + 18] = (uint8_t)kind;
  nv__pad(b, 8);
  nv__point(b, t + 4);
  return meta;
}

static void nv__end_meta(nv_buffer *b, uint32_t meta) {
  nv__pad(b, 8);
  nv__put32(b->data + meta - 4, b->size - meta);
}

/* The vtables behind NV__VT_HEADER of a schema: Schema, Field, tables of two members, tables of none. */
static const uint16_t nv__schema_vtables[] = {8, 8, 0, 4, 16, 20, 4, 16, 17, 8, 0, 12, 8, 12, 4, 8, 4, 4};
enum { NV__VT_FIELD = NV__VT_HEADER + 8, NV__VT_TWO = NV__VT_FIELD + 16, NV__VT_NONE = NV__VT_TWO + 8 };

static void nv__add_field(nv_buffer *b, uint32_t meta, const nv_type *type, bool optional, const char *name) {
  uint32_t field = nv__add_table(b, meta + NV__VT_FIELD, 20);
  b->data[field + 16] = optional;
  b->data[field + 17] = nv__arrow_types[type->kind];
  nv__point(b, field + 4);
  nv__add_string(b, nv_text_of(name));
  nv__point(b, field + 8);
  switch (type->kind) {
  case NV_BOOL: case NV_STRING: case NV_BYTES: case NV_VEC:
    nv__add_table(b, meta + NV__VT_NONE, 4);
    break;
  case NV_F32: case NV_F64: case NV_ARRAY: { /* precision, list size */
    uint32_t t = nv__add_table(b, meta + NV__VT_ONE, 8);
    nv__put32(b->data + t + 4, type->kind == NV_ARRAY ? type->length : type->kind == NV_F32 ? 1 : 2);
    break;
  }
  case NV_DATETIME: { /* unit, zone: the member of two bytes stands at 4 */
    static const uint16_t vtable[] = {8, 12, 4, 8};
    nv__add16s(b, vtable, 4);
    uint32_t own = b->size - 8;
    nv__point(b, field + 8);
    uint32_t t = nv__add_table(b, own, 12);
    nv__put16(b->data + t + 4, 3);
    nv__point(b, t + 8);
    nv__add_string(b, nv_text_of("+00:00"));
    break;
  }
  default: { /* bits, sign */
    uint32_t t = nv__add_table(b, meta + NV__VT_TWO, 12);
    nv__put32(b->data + t + 4, 8u * nv__widths[type->kind]);
    b->data[t + 8] = type->kind & 1;
  }
  }
  nv__point(b, field + 12);
  uint32_t child = nv__add_offsets(b, type->element != NULL);
  if (!type->element) return;
  nv__point(b, child);
  nv__add_field(b, meta, type->element, false, "item");
}

/* The schema message of the last output, and the types it is of: the same guest emits the same columns again and again. */
static nv_buffer nv__pool_schema, nv__pool_types;

static void nv__add_schema(nv_buffer *b, const nv_output *o) {
  const nv_generated *g = o->columns;
  uint32_t i = 0;
  for (; g && i < nv__pool_types.size; g = g->next, i += 8) {
    if (nv__get32(nv__pool_types.data + i) != (uint32_t)(uintptr_t)g->type || nv__get32(nv__pool_types.data + i + 4) != (uint32_t)g->optional) break;
  }
  if (g || i != nv__pool_types.size) {
    nv_buffer *s = &nv__pool_schema;
    nv__pool_types.size = s->size = 0;
    uint32_t meta = nv__begin_meta(s, NV__SCHEMA, 0, nv__schema_vtables, 18), t = nv__add_table(s, meta + NV__VT_HEADER, 8);
    nv__point(s, t + 4);
    uint32_t fields = nv__add_offsets(s, o->generated);
    for (g = o->columns; g; g = g->next, fields += 4) {
      nv__point(s, fields);
      nv__add_field(s, meta, g->type, g->optional, "");
      nv__add32(&nv__pool_types, (uint32_t)(uintptr_t)g->type);
      nv__add32(&nv__pool_types, g->optional);
    }
    nv__end_meta(s, meta);
  }
  nv_append(b, nv__pool_schema.data, nv__pool_schema.size);
}

static uint32_t nv__bits(uint32_t n) { return (n + 7) / 8; }

/* The buffers of a column in their order; what is 0 bytes long is left out of the body, but not of the list. */
static void nv__list_buffers(nv_buffer *list, const nv_generated *g) {
  nv_bytes bytes = {g->validity.data, g->nulls ? nv__bits(g->rows) : 0};
  nv_append(list, &bytes, sizeof bytes);
  if (g->type->kind != NV_ARRAY) {
    bytes.data = g->values.data;
    bytes.size = g->values.size;
    nv_append(list, &bytes, sizeof bytes);
  }
  if (g->type->kind == NV_STRING || g->type->kind == NV_BYTES) {
    bytes.data = g->data.data;
    bytes.size = g->data.size;
    nv_append(list, &bytes, sizeof bytes);
  }
  if (g->element) nv__list_buffers(list, g->element);
}

static uint32_t nv__count_nodes(const nv_generated *g) {
  uint32_t n = 0;
  for (; g; g = g->element) n++;
  return n;
}

static void nv__add_batch(nv_buffer *b, const nv_output *o, uint32_t rows) {
  static const uint16_t vtable[] = {10, 20, 8, 4, 16}; /* RecordBatch */
  nv_buffer list = {NULL, 0, 0};
  uint32_t nodes = 0, body = 0;
  for (const nv_generated *g = o->columns; g; g = g->next) {
    nv__list_buffers(&list, g);
    nodes += nv__count_nodes(g);
  }
  const nv_bytes *buffers = (const nv_bytes *)(const void *)list.data;
  uint32_t n = list.size / (uint32_t)sizeof *buffers;
  for (uint32_t i = 0; i < n; i++) body += nv__up(buffers[i].size, 8);
  uint32_t meta = nv__begin_meta(b, NV__BATCH, body, vtable, 5), t = nv__add_table(b, meta + NV__VT_HEADER, 20);
  nv__put64(b->data + t + 8, rows);
  nv__point(b, t + 4);
  if ((b->size - meta) % 8 == 0) {
    nv__add32(b, 0);
    nv__point(b, t + 4);
  }
  nv__add32(b, nodes);
  for (const nv_generated *g = o->columns; g; g = g->next) {
    for (const nv_generated *e = g; e; e = e->element) {
      uint8_t *node = (uint8_t *)nv_extend(b, 16);
      nv__put64(node, e->rows);
      nv__put64(node + 8, e->nulls);
    }
  }
  nv__add32(b, 0);
  nv__point(b, t + 16);
  nv__add32(b, n);
  uint32_t at = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint8_t *buffer = (uint8_t *)nv_extend(b, 16);
    nv__put64(buffer, at);
    nv__put64(buffer + 8, buffers[i].size);
    at += nv__up(buffers[i].size, 8);
  }
  nv__end_meta(b, meta);
  nv_reserve(b, body);
  for (uint32_t i = 0; i < n; i++) {
    nv_append(b, buffers[i].data, buffers[i].size);
    nv__pad(b, 8);
  }
  nv_buffer_free(&list);
}

/* ---- An output envelope */

static const uint16_t nv__output_vtables[] = {
  8, 12, 8, 4,           /* Message: payload_type, payload */
  8, 12, 4, 8,           /* OutputEnvelope, NackSet, MessageErrorSet */
  10, 16, 4, 8, 12,      /* RoutedOutput */
  8, 12, 8, 4,           /* OutputColumnRef: source, column_index */
  12, 20, 4, 8, 12, 16,  /* AckSidecar */
  8, 16, 4, 8,           /* OutputRow */
  6, 16, 4, 0};          /* OutputRow without source, AckTokenSet */
enum { NV__VT_MSG = 12, NV__VT_PAIR = 20, NV__VT_ROUTED = 28, NV__VT_REF = 38, NV__VT_SIDECAR = 46, NV__VT_ROW = 58, NV__VT_TOKENS = 66, NV__VT_ALL = 74 };

static void nv__add_nacks(nv_buffer *b, uint32_t member, const nv_buffer *sets) {
  uint32_t n = 0;
  for (uint32_t at = 0; at < sets->size; n++) at += nv__up(8 + 8 * nv__get32(sets->data + at) + nv__get32(sets->data + at + 4), 8);
  nv__pad(b, 4);
  nv__point(b, member);
  uint32_t offset = nv__add_offsets(b, n);
  for (uint32_t at = 0; at < sets->size; offset += 4) {
    const uint8_t *set = sets->data + at;
    uint32_t tokens = nv__get32(set), size = nv__get32(set + 4);
    nv_text reason = {(const char *)set + 8 + 8 * tokens, size};
    nv__point(b, offset);
    uint32_t t = nv__add_table(b, NV__VT_PAIR, 12);
    nv__point(b, t + 8);
    nv__add_string(b, reason);
    if (b->size % 8 == 0) nv__add32(b, 0);
    nv__point(b, t + 4);
    nv__add_tokens(b, set + 8, tokens);
    at += nv__up(8 + 8 * tokens + size, 8);
  }
}

/* Everything of a route but its rows. */
static void nv__add_route(nv_buffer *b, uint32_t offset, nv_route *r) {
  nv__pad(b, 4);
  nv__point(b, offset);
  uint32_t t = nv__add_table(b, NV__VT_ROUTED, 16), n = r->columns.size / 8;
  nv__point(b, t + 4);
  nv__add_string(b, r->relay->name);
  nv__point(b, t + 8);
  uint32_t at = nv__add_offsets(b, n);
  for (uint32_t i = 0; i < n; i++) {
    nv__point(b, at + 4 * i);
    uint32_t ref = nv__add_table(b, NV__VT_REF, 12);
    nv__put32(b->data + ref + 4, nv__get32(r->columns.data + 8 * i + 4));
    b->data[ref + 8] = r->columns.data[8 * i];
  }
  nv__point(b, t + 12);
  r->sidecar_at = nv__add_table(b, NV__VT_SIDECAR, 20);
  nv__point(b, r->sidecar_at + 8);
  uint32_t sets = nv__add_offsets(b, r->acked.size ? 1 : 0);
  if (r->acked.size) {
    nv__point(b, sets);
    uint32_t set = nv__add_table(b, NV__VT_TOKENS, 16);
    if (b->size % 8 == 0) nv__add32(b, 0);
    nv__point(b, set + 4);
    nv__add_tokens(b, r->acked.data, r->acked.size / 8);
  }
  nv__add_nacks(b, r->sidecar_at + 12, &r->nacked);
  nv__add_nacks(b, r->sidecar_at + 16, &r->errors);
}

/* The rows of a route: those of the input message copied as they lie there, or its own records. */
static void nv__add_rows(nv_buffer *b, nv_route *r) {
  if (r->all && r->rows) {
    const nv_batch *batch = r->all;
    nv__pad(b, 4);
    while (b->size % 16 != 12) nv__add32(b, 0); /* where it lies in the input, too */
    r->rows_at = b->size + batch->entries_ - 4 - 12;
    nv_append(b, batch->message_ + 12, batch->entries_end_ - 12);
    return;
  }
  nv__pad(b, 8);
  r->rows_at = b->size;
  uint32_t offset = nv__add_offsets(b, r->rows);
  nv__pad(b, 8);
  uint32_t at = b->size;
  nv_append(b, r->records.data, r->records.size);
  for (uint32_t i = 0; i < r->rows; i++, offset += 4) {
    uint8_t *row = b->data + at;
    nv__put32(b->data + offset, at - offset);
    nv__put32(row, at - (nv__get32(row) ? NV__VT_ROW : NV__VT_TOKENS));
    at += 24 + 8 * nv__get32(row + 20);
  }
}

static void nv__write_output(nv_buffer *b, nv_output *o, uint32_t rows) {
  uint32_t estimate = 1024, routes = 0;
  for (nv_route *r = o->routes; r; r = r->next, routes++) estimate += 36 * r->rows + r->records.size + r->acked.size + r->nacked.size * 2 + r->errors.size * 2 + 16 * r->columns.size;
  for (nv_generated *g = o->columns; g; g = g->next) estimate += g->values.size + g->data.size + 256;
  nv_reserve(b, estimate);
  nv_extend(b, 12);
  nv__copy(b->data + 8, "NVWY", 4);
  nv__add16s(b, nv__output_vtables, (NV__VT_ALL - 12) / 2);
  nv__pad(b, 4);
  uint32_t message = nv__add_table(b, NV__VT_MSG, 12);
  nv__put32(b->data + 4, message - 4);
  b->data[message + 8] = NV__OUTPUT;
  nv__point(b, message + 4);
  uint32_t envelope = nv__add_table(b, NV__VT_PAIR, 12);
  nv__point(b, envelope + 8);
  uint32_t offset = nv__add_offsets(b, routes);
  for (nv_route *r = o->routes; r; r = r->next, offset += 4) nv__add_route(b, offset, r);
  for (nv_route *r = o->routes; r; r = r->next) {
    if (!r->same) nv__add_rows(b, r);
  }
  for (nv_route *r = o->routes; r; r = r->next) {
    nv__put32(b->data + r->sidecar_at + 4, (r->same ? r->same->rows_at : r->rows_at) - (r->sidecar_at + 4));
  }
  nv__pad(b, 4);
  while (b->size % 16 != 12) nv__add32(b, 0); /* the stream begins at a multiple of 16 */
  nv__point(b, envelope + 4);
  uint32_t length = nv__add32(b, 0);
  if (o->columns) {
    nv__add_schema(b, o);
    nv__add_batch(b, o, rows);
    nv__put32(b->data + length, b->size - length - 4);
  }
  nv__put32(b->data, b->size - 4);
}

/* Completes and judges the columns of an output. */
static void nv__finish_column(nv_generated *g) {
  if (g->type->kind == NV_VEC) nv__add32(&g->values, g->element->rows);
  if (g->type->kind == NV_ARRAY && g->element->rows != g->rows * g->type->length) nv__wrong(g->owner, "a row of an ARRAY has another number of elements than its type");
  if (g->element) nv__finish_column(g->element);
}

static int32_t nv__judge(nv_output *o, uint32_t *rows) {
  bool inputs = false, sourceless = false;
  if (!o->routes) nv__wrong(o, "it has no route");
  for (nv_generated *g = o->columns; g; g = g->next) {
    nv__finish_column(g);
    if (!g->used) nv__wrong(o, "a generated column is not used by any route");
    if (g->rows != o->columns->rows) nv__wrong(o, "generated columns have different numbers of rows");
  }
  *rows = o->columns ? o->columns->rows : 0;
  for (nv_route *r = o->routes; r; r = r->next) {
    if (r->columns.size / 8 != r->relay->count) nv__wrong(o, "a route has fewer columns than its relay has fields");
    uint32_t own = r->same ? r->same->rows : r->rows;
    for (uint32_t i = 0; i < r->columns.size; i += 8) {
      if (r->columns.data[i] == NV__FROM_GENERATED && own != *rows) nv__wrong(o, "a generated column has another number of rows than its route");
      inputs = inputs || r->columns.data[i] == NV__FROM_INPUT;
    }
    sourceless = sourceless || r->sourceless;
  }
  if (inputs && sourceless) nv__wrong(o, "a row without source stands beside columns of the input");
  return o->wrong ? nv_fail("the guest emits an output that is wrong: %s", o->wrong) : NV_OK;
}

/* What waits for nervix_read_emit. */
static nv_buffer nv__queue; /* of nv_buffer */
static uint32_t nv__queue_at;

NV__OUT static void nv__drop_queue(void) {
  nv_buffer *waiting = (nv_buffer *)(void *)nv__queue.data;
  for (uint32_t n = nv__queue.size / (uint32_t)sizeof *waiting; n > nv__queue_at;) nv_buffer_free(&waiting[--n]);
  nv__queue.size = nv__queue_at = 0;
}

int32_t nv_emit(nv_output *o) {
  uint32_t rows;
  int32_t code = nv__judge(o, &rows);
  if (code == NV_OK) {
    nv_buffer b = {NULL, 0, 0};
    nv__write_output(&b, o, rows);
    nv_append(&nv__queue, &b, sizeof b);
  }
  for (nv_output **at = &nv__outputs; *at; at = &(*at)->next) {
    if (*at != o) continue;
    *at = o->next;
    nv__free_output(o);
    break;
  }
  return code;
}

/* ---- Rows at once */

void nv_filter(nv_route *r, const nv_batch *batch, nv_test keep, void *context) {
  for (uint32_t i = 0; i < batch->rows; i++) {
    nv_entry e = nv_entry_of(batch, i);
    if (keep(batch, i, context)) nv_carry(r, e);
    else nv_ack(r, e);
  }
}

static nv_verdict nv__verdict(nv_fate fate, nv_text reason) {
  nv_verdict v;
  v.fate = fate;
  v.reason = reason;
  return v;
}

nv_verdict nv_carried(void) { return nv__verdict(NV_CARRY, nv_text_of("")); }
nv_verdict nv_acked(void) { return nv__verdict(NV_ACK, nv_text_of("")); }
nv_verdict nv_nacked(nv_text reason) { return nv__verdict(NV_NACK, reason); }
nv_verdict nv_errored(nv_text reason) { return nv__verdict(NV_MESSAGE_ERROR, reason); }

void nv_map(nv_route *r, const nv_batch *batch, nv_mapper map, void *context) {
  for (uint32_t i = 0; i < batch->rows; i++) {
    nv_entry e = nv_entry_of(batch, i);
    nv_verdict v = map(batch, i, context);
    switch (v.fate) {
    case NV_CARRY: nv_carry(r, e); break;
    case NV_ACK: nv_ack(r, e); break;
    case NV_NACK: nv_nack(r, e, v.reason); break;
    case NV_MESSAGE_ERROR: nv_message_error(r, e, v.reason); break;
    }
  }
}

/* ---- State */

static void nv__write(nv_writer *w, uint64_t v, uint32_t size) { nv_append(&w->out_, &v, size); }

void nv_write_u8(nv_writer *w, uint8_t v) { nv__write(w, v, 1); }
void nv_write_u32(nv_writer *w, uint32_t v) { nv__write(w, v, 4); }
void nv_write_u64(nv_writer *w, uint64_t v) { nv__write(w, v, 8); }
void nv_write_i64(nv_writer *w, int64_t v) { nv__write(w, (uint64_t)v, 8); }
void nv_write_f64(nv_writer *w, double v) { nv_append(&w->out_, &v, 8); }
void nv_write_time(nv_writer *w, nv_time v) { nv_write_i64(w, v.since_epoch_.nanoseconds_); }

void nv_write_bytes(nv_writer *w, nv_bytes v) {
  nv_write_u32(w, v.size);
  nv_append(&w->out_, v.data, v.size);
}

void nv_write_text(nv_writer *w, nv_text v) {
  nv_bytes b = {(const uint8_t *)v.data, v.size};
  nv_write_bytes(w, b);
}

static uint64_t nv__read(nv_reader *r, uint32_t size) {
  uint64_t v = 0;
  if (size > r->state.size - r->at_) {
    r->short_ = true;
    r->at_ = r->state.size;
    return 0;
  }
  nv__copy(&v, r->state.data + r->at_, size);
  r->at_ += size;
  return v;
}

uint8_t nv_read_u8(nv_reader *r) { return (uint8_t)nv__read(r, 1); }
uint32_t nv_read_u32(nv_reader *r) { return (uint32_t)nv__read(r, 4); }
uint64_t nv_read_u64(nv_reader *r) { return nv__read(r, 8); }
int64_t nv_read_i64(nv_reader *r) { return (int64_t)nv__read(r, 8); }
nv_time nv_read_time(nv_reader *r) { return nv__time(nv_read_i64(r)); }

double nv_read_f64(nv_reader *r) {
  uint64_t bits = nv__read(r, 8);
  double v;
  __builtin_memcpy(&v, &bits, 8);
  return v;
}

nv_bytes nv_read_bytes(nv_reader *r) {
  nv_bytes b = {r->state.data + r->at_, 0};
  uint32_t size = nv_read_u32(r);
  if (r->short_ || size > r->state.size - r->at_) {
    r->short_ = true;
    r->at_ = r->state.size;
    return b;
  }
  b.data = r->state.data + r->at_;
  b.size = size;
  r->at_ += size;
  return b;
}

nv_text nv_read_text(nv_reader *r) {
  nv_bytes b = nv_read_bytes(r);
  nv_text t = {(const char *)b.data, b.size};
  return t;
}

int32_t nv_read_end(nv_reader *r) {
  if (r->short_) return nv_fail("the state ends early, after %u bytes", r->state.size);
  if (r->at_ != r->state.size) return nv_fail("the state has %u bytes more than this guest wrote", r->state.size - r->at_);
  return NV_OK;
}

/* ---- The exports. The host's buffer is nv__buffer: it moves when it grows, and when a message that waits takes its place. */

static nv_buffer nv__buffer;

int32_t NV__EXPORT(nervix_buffer_ptr)(void) { return (int32_t)(uintptr_t)nv__buffer.data; }
int32_t NV__EXPORT(nervix_buffer_len)(void) { return (int32_t)nv__buffer.size; }
int32_t NV__EXPORT(nervix_buffer_capacity)(void) { return (int32_t)nv__buffer.capacity; }

int32_t NV__EXPORT(nervix_alloc)(int32_t size) {
  if (size < 0 || (uint32_t)size > NV__MAX_MESSAGE) return NV_BAD_SIZE;
  if (!nv__buffer.data || (uint32_t)size > nv__buffer.capacity) {
    nv_buffer_free(&nv__buffer);
    nv_reserve(&nv__buffer, size ? (uint32_t)size : 1);
  }
  nv__buffer.size = (uint32_t)size;
  return (int32_t)(uintptr_t)nv__buffer.data;
}

/* Puts a message into the place of the buffer and gives its length. */
static int32_t nv__show(nv_buffer message) {
  nv_buffer_free(&nv__buffer);
  nv__buffer = message;
  return (int32_t)message.size;
}

static int32_t nv__range(int32_t ptr, int32_t size) {
  if (size < 0) return NV_BAD_SIZE;
  uint32_t at = (uint32_t)ptr, begin = (uint32_t)(uintptr_t)nv__buffer.data;
  bool inside = nv__buffer.data && at >= begin && at - begin <= nv__buffer.capacity && (uint32_t)size <= nv__buffer.capacity - (at - begin);
  return inside ? NV_OK : NV_BAD_RANGE;
}

NV__OUT static void nv__end_operation(void) {
  while (nv__outputs) {
    nv_output *next = nv__outputs->next;
    nv__free_output(nv__outputs);
    nv__outputs = next;
  }
  nv__scratch_end();
}

int32_t NV__EXPORT(nervix_init)(int32_t ptr, int32_t size) {
  NV_TRY(nv__range(ptr, size));
  if (nv__ready) return nv_fail("the guest is initialized already");
  nv__init_message.size = 0;
  nv_append(&nv__init_message, (const void *)(uintptr_t)(uint32_t)ptr, (uint32_t)size);
  if (!nv__read_init(nv__init_message.data, nv__init_message.size, &nv__init, nv_allocate)) {
    nv_fail("the init payload is damaged or of another kind");
    return NV_BAD_MESSAGE;
  }
  nv__make_columns();
  int32_t code = nervix_guest.create ? nervix_guest.create(&nv__init) : NV_OK;
  nv__end_operation();
  nv__drop_queue();
  if (code > 0) code = NV_OK; /* a number that NV_TRY let through */
  nv__ready = code == NV_OK && !nv__reason.size;
  return code;
}

/* What every callback begins with. */
static int32_t nv__begin(void) {
  nv__drop_queue();
  if (!nv__ready) return NV_NOT_READY;
  if (nv__reason.size) return NV_REJECTED;
  nv__worked = true;
  return NV_OK;
}

static int32_t nv__end_callback(int32_t code) {
  if (code > 0) code = nv_fail("a callback of the guest answered %d", code);
  if (code || nv__reason.size) nv__drop_queue();
  nv__end_operation();
  return code;
}

static int32_t nv__read_batch(const uint8_t *message, uint32_t size, nv_batch *batch) {
  nv__flat f;
  nv__table input = nv__open(&f, message, size, NV__INPUT, 2), sidecar = nv__child(&f, &input, 1, 4);
  nv__read_entries(&f, &sidecar, batch);
  for (uint32_t slot = 1; slot < 4; slot++) nv__read_sets(&f, &sidecar, slot);
  uint32_t end = nv__up(f.end, 4);
  nv__span arrow = nv__vector(&f, &input, 0, 1);
  if (!nv__closed(&f)) {
    nv_fail("the input message is damaged or of another kind");
    return NV_BAD_MESSAGE;
  }
  batch->message_ = message;
  /* Rows of one layout with sources that all lie before the Arrow stream can be handed on as they are. */
  batch->entries_end_ = batch->tokens_at_ && batch->source_at_ && end <= arrow.at - 4 ? end : 0;
  nv_bytes stream = {message + arrow.at, arrow.count};
  if (nv__read_arrow(stream, batch)) return NV_OK;
  nv_fail("the Arrow batch is damaged or has another schema than the input");
  return NV_BAD_BATCH;
}

int32_t NV__EXPORT(nervix_process_batch)(int32_t ptr, int32_t size) {
  NV_TRY(nv__range(ptr, size));
  NV_TRY(nv__begin());
  nv_batch batch;
  int32_t code = nv__read_batch((const uint8_t *)(uintptr_t)(uint32_t)ptr, (uint32_t)size, &batch);
  if (code == NV_OK) code = nervix_guest.process_batch ? nervix_guest.process_batch(&batch) : nv_fail("the guest has no process_batch");
  return nv__end_callback(code);
}

int32_t NV__EXPORT(nervix_on_timeout)(int64_t handle) {
  NV_TRY(nv__begin());
  nv_timeout t;
  t.handle_ = handle;
  return nv__end_callback(nervix_guest.on_timeout ? nervix_guest.on_timeout(t) : NV_OK);
}

int32_t NV__EXPORT(nervix_flush)(void) {
  NV_TRY(nv__begin());
  return nv__end_callback(nervix_guest.flush ? nervix_guest.flush() : NV_OK);
}

int32_t NV__EXPORT(nervix_read_emit)(void) {
  nv_buffer *waiting = (nv_buffer *)(void *)nv__queue.data;
  if (nv__queue_at < nv__queue.size / sizeof *waiting) return nv__show(waiting[nv__queue_at++]);
  nv__queue.size = nv__queue_at = 0;
  return 0;
}

int32_t NV__EXPORT(nervix_dump_state)(void) {
  static const uint16_t vtables[] = {8, 12, 8, 4, 8, 12, 4, 8}; /* Message, GuestSnapshot */
  if (!nv__ready) return NV_NOT_READY;
  nv_writer w = {{NULL, 0, 0}};
  nv_buffer *b = &w.out_;
  nv_reserve(b, 256 + nv__init_message.size);
  nv_extend(b, 12);
  nv__copy(b->data + 8, "NVWY", 4);
  nv__add16s(b, vtables, 8);
  uint32_t message = nv__add_table(b, 12, 12);
  nv__put32(b->data + 4, message - 4);
  b->data[message + 8] = NV__SNAPSHOT;
  nv__point(b, message + 4);
  uint32_t snapshot = nv__add_table(b, 20, 12);
  nv__point(b, snapshot + 4);
  nv__add32(b, nv__init_message.size);
  nv_append(b, nv__init_message.data, nv__init_message.size);
  nv__pad(b, 4);
  nv__point(b, snapshot + 8);
  uint32_t length = nv__add32(b, 0);
  int32_t code = nervix_guest.save_state ? nervix_guest.save_state(&w) : NV_OK;
  nv__end_operation();
  if (code < 0) {
    nv_buffer_free(b);
    return code;
  }
  nv__put32(b->data + length, b->size - length - 4);
  nv__put32(b->data, b->size - 4);
  return nv__show(*b);
}

/* Judges the wrapping of a saved state and finds the state in it. */
static bool nv__read_snapshot(const uint8_t *message, uint32_t size, nv_bytes *state) {
  nv__flat f;
  nv__table t = nv__open(&f, message, size, NV__SNAPSHOT, 2);
  nv__span init = nv__vector(&f, &t, 0, 1), application = nv__vector(&f, &t, 1, 1);
  if (!nv__closed(&f)) return nv_fail("the saved bytes are no snapshot") == NV_OK;
  nv_init saved;
  if (!nv__read_init(message + init.at, init.count, &saved, nv__lend)) return nv_fail("the snapshot does not say which branch it is of") == NV_OK;
  if (!nv__same_branch(&saved, &nv__init)) return nv_fail("the snapshot is of another branch, or of other schemas") == NV_OK;
  state->data = message + application.at;
  state->size = application.count;
  return true;
}

int32_t NV__EXPORT(nervix_load_state)(int32_t ptr, int32_t size) {
  NV_TRY(nv__range(ptr, size));
  if (!nv__ready || nv__worked || nv__reason.size) return NV_NOT_READY;
  nv_reader r = {{NULL, 0}, 0, false};
  int32_t code = NV_OK;
  if (!nv__read_snapshot((const uint8_t *)(uintptr_t)(uint32_t)ptr, (uint32_t)size, &r.state)) code = NV_BAD_SNAPSHOT;
  else if (nervix_guest.restore) code = nervix_guest.restore(&r) ? NV_BAD_STATE : NV_OK;
  else if (r.state.size) code = NV_BAD_STATE, nv_fail("this guest saves no state and cannot take %u bytes of it", r.state.size);
  if (code == NV_OK && nv__reason.size) code = NV_BAD_STATE;
  if (code == NV_BAD_STATE && !nv__reason.size) nv_fail("the guest refuses the state");
  nv__end_operation();
  nv__drop_queue();
  if (code) nv__ready = false; /* what a refused restore left behind must not run */
  return code;
}

/* The host never calls it: a new life of the state is a new instance. */
int32_t NV__EXPORT(nervix_reset_state)(void) { return NV_REJECTED; }

/* Constructors of static objects run once, when the host instantiates. Without this the linker would run them again in each export. */
void __wasm_call_ctors(void);
void NV__EXPORT(_initialize)(void) { __wasm_call_ctors(); }

#ifdef __cplusplus
}
#endif

#undef NV__EXPORT
#undef NV__OUT
#endif /* NERVIX_GUEST_IMPLEMENTATION */
