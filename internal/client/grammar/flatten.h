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

// An svc_edit is the one stretch in which two texts differ, in bytes and as
// rows and columns.
typedef struct {
  uint32_t start, old_end, new_end;
  uint32_t start_row, start_column, old_row, old_column, new_row, new_column;
} svc_edit;

// svc_parse_pair parses a text and an edited form of it, which costs little
// more than the first alone. It returns 0 or what svc_parse returns on failure.
int svc_parse_pair(int lang, const char *old_source, uint32_t old_length, const char *new_source, uint32_t new_length,
                   svc_edit edit, uint64_t micros, svc_node **old_out, int64_t *old_count, svc_node **new_out, int64_t *new_count);

// svc_names writes the names of a language's kinds (or fields) to buf,
// separated by newlines, and returns how many bytes that takes.
uint32_t svc_names(int lang, bool fields, char *buf, uint32_t size);
