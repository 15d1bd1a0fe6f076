// SPDX-License-Identifier: Apache-2.0
//
// Linear memories of guests. The library asks for them through its memory creator, so that the node counts every byte and every map,
// hears of a growth it refuses, and keeps the number of memory maps flat.
//
// Guard profile: a memory reserves its whole index space plus a guard, so compiled code needs no bounds checks. Two maps each.
//
// Dense profile: memories up to 16 MiB are slots of 64 MiB slabs, one power-of-two size class per slab. A freed slot is given back
// with MADV_DONTNEED (zeroed, no longer resident) and never unmapped alone: unmapping single memories in random order would leave one
// map for each survivor and end at vm.max_map_count, which kills the process. Growth within the slot costs nothing, beyond it the
// memory moves to a slot of at least twice the size. Larger memories have a map of their own and grow with mremap.
#define _GNU_SOURCE
#include "shim.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE ((size_t)65536)
#define SLAB ((size_t)64 << 20)
#define CLASSES 9 // 64 KiB .. 16 MiB

typedef struct nv_slab {
  struct nv_slab *prev, *next; // among the slabs of the class that have a free slot
  uint8_t *base;
  uint16_t class, slots, nfree;
  uint16_t free[];
} nv_slab;

struct nv_pool {
  pthread_mutex_t lock;
  bool dense;
  uint64_t linear_max, maps_max;
  uint64_t linear, maps, slabs, memories;
  nv_slab *partial[CLASSES];
};

enum kind { SLOT, MAP, RESERVED };

struct nv_mem {
  nv_pool *pool;
  uint8_t *base;
  size_t size, capacity, mapped;
  nv_slab *slab;
  uint16_t slot;
  uint8_t kind;
};

nv_pool *nv_pool_new(bool dense, uint64_t linear_bytes, uint64_t maps) {
  nv_pool *p = calloc(1, sizeof *p);
  if (!p) return NULL;
  pthread_mutex_init(&p->lock, NULL);
  p->dense = dense;
  p->linear_max = linear_bytes;
  p->maps_max = maps;
  return p;
}

void nv_pool_usage(nv_pool *p, nv_usage *out) {
  pthread_mutex_lock(&p->lock);
  *out = (nv_usage){.linear_bytes = p->linear, .maps = p->maps, .slabs = p->slabs, .memories = p->memories};
  pthread_mutex_unlock(&p->lock);
}

static void unlink_slab(nv_pool *p, nv_slab *s) {
  if (s->prev) s->prev->next = s->next; else p->partial[s->class] = s->next;
  if (s->next) s->next->prev = s->prev;
  s->prev = s->next = NULL;
}

static void link_slab(nv_pool *p, nv_slab *s) {
  s->prev = NULL;
  s->next = p->partial[s->class];
  if (s->next) s->next->prev = s;
  p->partial[s->class] = s;
}

void nv_pool_delete(nv_pool *p) {
  for (int c = 0; c < CLASSES; c++)
    while (p->partial[c]) {
      nv_slab *s = p->partial[c];
      unlink_slab(p, s);
      munmap(s->base, SLAB);
      free(s);
    }
  pthread_mutex_destroy(&p->lock);
  free(p);
}

static bool charge_maps(nv_pool *p, uint64_t n) {
  if (p->maps + n > p->maps_max) return false;
  p->maps += n;
  return true;
}

static int class_of(size_t bytes) {
  int c = 0;
  while (c < CLASSES && (PAGE << c) < bytes) c++;
  return c;
}

static void *map_anonymous(size_t n, int prot) {
  void *at = mmap(NULL, n, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return NULL;
  madvise(at, n, MADV_NOHUGEPAGE); // one touched page must not make two megabytes resident
  return at;
}

// Called with the lock held.
static int take_slot(nv_pool *p, int c, struct nv_mem *m) {
  nv_slab *s = p->partial[c];
  if (!s) {
    uint16_t slots = (uint16_t)(SLAB / (PAGE << c));
    if (!charge_maps(p, 1)) return NV_MEMORY_BUDGET;
    s = calloc(1, sizeof *s + slots * sizeof(uint16_t));
    if (s) s->base = map_anonymous(SLAB, PROT_READ | PROT_WRITE);
    if (!s || !s->base) {
      free(s);
      p->maps--;
      return NV_MEMORY_OS;
    }
    s->class = (uint16_t)c;
    s->slots = s->nfree = slots;
    for (uint16_t k = 0; k < slots; k++) s->free[k] = (uint16_t)(slots - 1 - k);
    p->slabs++;
    link_slab(p, s);
  }
  m->slab = s;
  m->slot = s->free[--s->nfree];
  if (!s->nfree) unlink_slab(p, s);
  m->kind = SLOT;
  m->capacity = PAGE << c;
  m->base = s->base + (size_t)m->slot * m->capacity;
  return 0;
}

// Called with the lock held, after the slot's pages were given back.
static void return_slot(nv_pool *p, nv_slab *s, uint16_t slot) {
  if (!s->nfree) link_slab(p, s);
  s->free[s->nfree++] = slot;
  if (s->nfree == s->slots && (s->prev || s->next)) { // another slab of the class has room: this one goes
    unlink_slab(p, s);
    munmap(s->base, SLAB);
    free(s);
    p->slabs--;
    p->maps--;
  }
}

static int map_alone(nv_pool *p, size_t size, struct nv_mem *m) {
  size_t room = SLAB;
  while (room < size) room <<= 1;
  if (!charge_maps(p, 2)) return NV_MEMORY_BUDGET;
  m->base = map_anonymous(room, PROT_READ | PROT_WRITE);
  if (!m->base) {
    p->maps -= 2;
    return NV_MEMORY_OS;
  }
  m->kind = MAP;
  m->capacity = m->mapped = room;
  return 0;
}

static int map_reserved(nv_pool *p, size_t size, size_t reserve, size_t guard, struct nv_mem *m) {
  if (reserve < size) reserve = size;
  if (!charge_maps(p, 2)) return NV_MEMORY_BUDGET;
  m->base = map_anonymous(reserve + guard, PROT_NONE);
  if (m->base && size && mprotect(m->base, size, PROT_READ | PROT_WRITE)) {
    munmap(m->base, reserve + guard);
    m->base = NULL;
  }
  if (!m->base) {
    p->maps -= 2;
    return NV_MEMORY_OS;
  }
  m->kind = RESERVED;
  m->capacity = reserve;
  m->mapped = reserve + guard;
  return 0;
}

// Called with the lock held.
static int place(nv_pool *p, size_t size, size_t reserve, size_t guard, struct nv_mem *m) {
  if (!p->dense) return map_reserved(p, size, reserve, guard, m);
  int c = class_of(size);
  return c < CLASSES ? take_slot(p, c, m) : map_alone(p, size, m);
}

int nv_mem_new(nv_pool *p, size_t size, size_t reserve, size_t guard, struct nv_mem **out) {
  struct nv_mem *m = calloc(1, sizeof *m);
  if (!m) return NV_MEMORY_OS;
  m->pool = p;
  m->size = size;
  pthread_mutex_lock(&p->lock);
  int bad = p->linear + size > p->linear_max ? NV_MEMORY_BUDGET : place(p, size, reserve, guard, m);
  if (!bad) {
    p->linear += size;
    p->memories++;
  }
  pthread_mutex_unlock(&p->lock);
  if (bad) {
    free(m);
    return bad;
  }
  *out = m;
  return 0;
}

static void give_back(struct nv_mem *m) {
  nv_pool *p = m->pool;
  if (m->kind == SLOT) {
    if (m->size) madvise(m->base, m->size, MADV_DONTNEED);
    pthread_mutex_lock(&p->lock);
    return_slot(p, m->slab, m->slot);
  } else {
    munmap(m->base, m->mapped);
    pthread_mutex_lock(&p->lock);
    p->maps -= 2;
  }
  pthread_mutex_unlock(&p->lock);
}

// Moves a dense memory to a larger place. The pages it had are zeroed by the give-back.
static int move(struct nv_mem *m, size_t size) {
  nv_pool *p = m->pool;
  if (m->kind == MAP) {
    size_t room = m->mapped;
    while (room < size) room <<= 1;
    void *at = mremap(m->base, m->mapped, room, MREMAP_MAYMOVE);
    if (at == MAP_FAILED) return NV_MEMORY_OS;
    m->base = at;
    m->capacity = m->mapped = room;
    return 0;
  }
  struct nv_mem next = {.pool = p, .size = m->size};
  pthread_mutex_lock(&p->lock);
  int bad = place(p, size, 0, 0, &next);
  pthread_mutex_unlock(&p->lock);
  if (bad) return bad;
  memcpy(next.base, m->base, m->size);
  give_back(m);
  *m = next;
  return 0;
}

int nv_mem_grow(struct nv_mem *m, size_t size) {
  nv_pool *p = m->pool;
  if (size <= m->size) return 0;
  size_t more = size - m->size;
  pthread_mutex_lock(&p->lock);
  bool fits = p->linear + more <= p->linear_max;
  if (fits) p->linear += more;
  pthread_mutex_unlock(&p->lock);
  if (!fits) return NV_MEMORY_BUDGET;
  int bad = 0;
  if (m->kind == RESERVED) {
    if (size > m->capacity || mprotect(m->base + m->size, more, PROT_READ | PROT_WRITE)) bad = NV_MEMORY_OS;
  } else if (size > m->capacity) {
    bad = move(m, size);
  }
  if (bad) {
    pthread_mutex_lock(&p->lock);
    p->linear -= more;
    pthread_mutex_unlock(&p->lock);
    return bad;
  }
  m->size = size;
  return 0;
}

void nv_mem_delete(struct nv_mem *m) {
  nv_pool *p = m->pool;
  size_t size = m->size;
  give_back(m);
  pthread_mutex_lock(&p->lock);
  p->linear -= size;
  p->memories--;
  pthread_mutex_unlock(&p->lock);
  free(m);
}

uint8_t *nv_mem_view(struct nv_mem *m, size_t *size, size_t *capacity) {
  *size = m->size;
  *capacity = m->capacity;
  return m->base;
}
