// The part of tree-sitter's interface that flatten.c calls. The library itself
// is compiled by the Go module that carries it; the linker joins the two.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  uint16_t kind, field, depth, flags;
  uint32_t start, end, row, end_row, next;
} svc_node;

// svc_parse parses source and writes its named nodes to a new array at *out.
// It returns how many, -1 when time ran out, -2 when memory did, and -3 for a
// language that it does not have.
int64_t svc_parse(int lang, const char *source, uint32_t length, uint64_t micros, svc_node **out);

// svc_names writes the names of a language's kinds (or fields) to buf,
// separated by newlines, and returns how many bytes that takes.
uint32_t svc_names(int lang, bool fields, char *buf, uint32_t size);
