// The grammars as a program of their own, which a svc without C starts where
// code is to be read (parse_lean.go): a C program starts in a third of the time
// that one takes which has Go in it as well.
//
// It answers requests until its input ends. A request is a header of words and
// two texts, an answer one of words and the nodes of both. Both sides are of one
// build on one machine, so words are as the machine has them, and who asks has
// the names of kinds and fields itself (tables).
#include "../arena.h"
#include "../flatten.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { LANGUAGE, OLD, NEW, EDITED, EDIT, MICROS = EDIT + 9, REQUEST };
enum { RESULT, BEFORE, AFTER, ANSWER };

static int get(void *to, size_t n) {
  for (char *at = to; n;) {
    ssize_t k = read(0, at, n);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) return -1;
    at += k, n -= (size_t)k;
  }
  return 0;
}

static int put(const void *from, size_t n) {
  for (const char *at = from; n;) {
    ssize_t k = write(1, at, n);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) return -1;
    at += k, n -= (size_t)k;
  }
  return 0;
}

// What is longer than any text that svc reads is no request, and not worth its
// memory.
#define LONGEST (256u << 20)

static int parse(const uint32_t *in) {
  if (in[OLD] > LONGEST || in[NEW] > LONGEST) return 1;
  char *text = malloc((size_t)in[OLD] + in[NEW] + 1);
  if (!text || get(text, (size_t)in[OLD] + in[NEW])) return 1;
  const uint32_t *e = in + EDIT;
  svc_edit edit = {e[0], e[1], e[2], e[3], e[4], e[5], e[6], e[7], e[8]};
  svc_nodes before = {0}, after = {0};
  int result = svc_parse((int)in[LANGUAGE], text, in[OLD], text + in[OLD], in[NEW], in[EDITED] ? &edit : NULL, in[MICROS], &before, &after);
  uint32_t out[ANSWER] = {(uint32_t)result, before.count, after.count};
  int failed = put(out, sizeof out) || put(before.nodes, before.count * sizeof(svc_node)) || put(after.nodes, after.count * sizeof(svc_node));
  free(before.nodes);
  free(after.nodes);
  free(text);
  return failed;
}

int main(void) {
  svc_arena_install();
  for (uint32_t in[REQUEST]; !get(in, sizeof in);)
    if (parse(in)) return 1;
  return 0;
}
