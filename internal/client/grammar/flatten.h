// The part of tree-sitter's interface that flatten.c calls. The library itself
// is compiled by the Go module that carries it; the linker joins the two.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  uint16_t kind, field, depth, flags;
  uint32_t start, end, row, end_row, next;
} svc_node;

// An svc_edit is the one stretch in which two texts differ, in bytes and as
// rows and columns.
typedef struct {
  uint32_t start, old_end, new_end;
  uint32_t start_row, start_column, old_row, old_column, new_row, new_column;
} svc_edit;

// An svc_nodes is an array of nodes that whoever gets it frees.
typedef struct {
  svc_node *nodes;
  uint32_t count;
} svc_nodes;

// svc_parse parses a text and, when edit is not NULL, an edited form of it,
// which costs little more than the first alone. It returns 0, -1 when time ran
// out, -2 when memory did, and -3 for a language that
// it does not have.
int svc_parse(int lang, const char *old_source, uint32_t old_length, const char *new_source, uint32_t new_length,
              const svc_edit *edit, uint64_t micros, svc_nodes *old_out, svc_nodes *new_out);

// svc_mend mends what a grammar does wrong. It is called once, before the
// others; svc_arena_install does.
void svc_mend(void);

// svc_names writes the names of a language's kinds (or fields) to buf,
// separated by newlines, and returns how many bytes that takes.
uint32_t svc_names(int lang, bool fields, char *buf, uint32_t size);
