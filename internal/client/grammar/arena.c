//go:build cgo && !lean && !apart

#include "arena.h"
#include "flatten.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void ts_set_allocator(void *(*)(size_t), void *(*)(size_t, size_t), void *(*)(void *, size_t), void (*)(void *)) __attribute__((weak));

// Blocks are of sizes that are powers of two, and of three sizes between two
// powers. A header of one word in front of a block tells its class.
enum { HEADER = 16, CLASSES = 128, FIRST_CHUNK = 1 << 20, LAST_CHUNK = 16 << 20 };

typedef struct chunk {
  struct chunk *before;
  size_t pad;
} chunk;

typedef struct block {
  struct block *next;
} block;

struct svc_arena {
  char *at, *end;
  chunk *chunks;
  size_t chunk_size;
  block *idle[CLASSES];
};

static __thread struct svc_arena *current;

static void *sure(void *p, size_t size) {
  if (!p) {
    fprintf(stderr, "svc: no memory for %zu bytes\n", size);
    abort();
  }
  return p;
}

// class_of tells the class of a size and rounds it up to that of the class.
static inline unsigned class_of(size_t *size) {
  if (*size <= 64) {
    unsigned c = (unsigned)((*size + 15) / 16);
    if (c == 0) c = 1;
    *size = 16 * (size_t)c;
    return c - 1;
  }
  unsigned power = 63 - (unsigned)__builtin_clzll((unsigned long long)(*size - 1)); // 2^power < size <= 2^(power+1)
  unsigned quarter = (unsigned)((*size - 1) >> (power - 2)) & 3;
  *size = (size_t)(5 + quarter) << (power - 2);
  return 4 * (power - 5) + quarter;
}

static inline size_t *header(void *p) { return (size_t *)((char *)p - HEADER); }

static char *more(struct svc_arena *a, size_t size) {
  while (a->chunk_size < size + sizeof(chunk)) a->chunk_size *= 2;
  chunk *c = sure(malloc(a->chunk_size), a->chunk_size);
  c->before = a->chunks;
  a->chunks = c;
  a->at = (char *)(c + 1);
  a->end = (char *)c + a->chunk_size;
  if (a->chunk_size < LAST_CHUNK) a->chunk_size *= 2;
  return a->at;
}

static void *arena_malloc(size_t size) {
  struct svc_arena *a = current;
  if (!a) return sure(malloc(size ? size : 1), size);
  unsigned class = class_of(&size);
  block *b = a->idle[class];
  if (b) {
    a->idle[class] = b->next;
    return b;
  }
  char *at = a->at;
  if ((size_t)(a->end - at) < size + HEADER) at = more(a, size + HEADER);
  a->at = at + size + HEADER;
  *(size_t *)at = size;
  return at + HEADER;
}

static void *arena_calloc(size_t count, size_t size) {
  if (!current) return sure(calloc(count ? count : 1, size ? size : 1), size);
  return memset(arena_malloc(count * size), 0, count * size);
}

static void arena_free(void *p) {
  struct svc_arena *a = current;
  if (!a) {
    free(p);
    return;
  }
  if (!p) return;
  size_t size = *header(p);
  unsigned class = class_of(&size);
  block *b = p;
  b->next = a->idle[class];
  a->idle[class] = b;
}

static void *arena_realloc(void *p, size_t size) {
  if (!current) return sure(realloc(p, size ? size : 1), size);
  if (!p) return arena_malloc(size);
  size_t had = *header(p);
  if (size <= had) return p;
  void *q = memcpy(arena_malloc(size), p, had);
  arena_free(p);
  return q;
}

void svc_arena_install(void) {
  svc_mend();
  if (ts_set_allocator) ts_set_allocator(arena_malloc, arena_calloc, arena_realloc, arena_free);
}

svc_arena *svc_arena_open(void) {
  svc_arena *a = calloc(1, sizeof *a);
  if (!a) return NULL;
  a->chunk_size = FIRST_CHUNK;
  return current = a;
}

void svc_arena_close(svc_arena *a) {
  current = NULL;
  for (chunk *c = a->chunks, *before; c; c = before) {
    before = c->before;
    free(c);
  }
  free(a);
}
