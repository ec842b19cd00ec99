//go:build cgo

#include "flatten.h"

#include <stdlib.h>
#include <string.h>

#define WEAK __attribute__((weak))

typedef struct TSLanguage TSLanguage;
typedef struct TSParser TSParser;
typedef struct TSTree TSTree;
typedef struct { uint32_t row, column; } TSPoint;
typedef struct { uint32_t context[4]; const void *id; const TSTree *tree; } TSNode;
typedef struct { const void *tree; const void *id; uint32_t context[3]; } TSTreeCursor;

// Weak, because cgo links this package alone before the library is there.
extern TSParser *ts_parser_new(void) WEAK;
extern void ts_parser_delete(TSParser *) WEAK;
extern bool ts_parser_set_language(TSParser *, const TSLanguage *) WEAK;
extern void ts_parser_set_timeout_micros(TSParser *, uint64_t) WEAK;
extern TSTree *ts_parser_parse_string(TSParser *, const TSTree *, const char *, uint32_t) WEAK;
extern void ts_tree_delete(TSTree *) WEAK;
typedef struct {
  uint32_t start_byte, old_end_byte, new_end_byte;
  TSPoint start_point, old_end_point, new_end_point;
} TSInputEdit;
extern void ts_tree_edit(TSTree *, const TSInputEdit *) WEAK;
extern TSNode ts_tree_root_node(const TSTree *) WEAK;
extern uint16_t ts_node_symbol(TSNode) WEAK;
extern uint32_t ts_node_start_byte(TSNode) WEAK;
extern uint32_t ts_node_end_byte(TSNode) WEAK;
extern TSPoint ts_node_start_point(TSNode) WEAK;
extern TSPoint ts_node_end_point(TSNode) WEAK;
extern bool ts_node_is_named(TSNode) WEAK;
extern bool ts_node_is_missing(TSNode) WEAK;
extern uint32_t ts_node_descendant_count(TSNode) WEAK;
extern TSTreeCursor ts_tree_cursor_new(TSNode) WEAK;
extern void ts_tree_cursor_delete(TSTreeCursor *) WEAK;
extern TSNode ts_tree_cursor_current_node(const TSTreeCursor *) WEAK;
extern uint16_t ts_tree_cursor_current_field_id(const TSTreeCursor *) WEAK;
extern bool ts_tree_cursor_goto_first_child(TSTreeCursor *) WEAK;
extern bool ts_tree_cursor_goto_next_sibling(TSTreeCursor *) WEAK;
extern bool ts_tree_cursor_goto_parent(TSTreeCursor *) WEAK;
extern uint32_t ts_language_symbol_count(const TSLanguage *) WEAK;
extern const char *ts_language_symbol_name(const TSLanguage *, uint16_t) WEAK;
extern uint32_t ts_language_field_count(const TSLanguage *) WEAK;
extern const char *ts_language_field_name_for_id(const TSLanguage *, uint16_t) WEAK;

// In the order of the table in parse.go.
#define LANGUAGES(X) X(c) X(cpp) X(c_sharp) X(go) X(java) X(javascript) X(kotlin) X(php) X(python) \
  X(ruby) X(rust) X(scala) X(swift) X(tsx) X(typescript)
#define DECLARE(name) extern TSLanguage *tree_sitter_##name(void) WEAK;
LANGUAGES(DECLARE)
#define LIST(name) tree_sitter_##name,

static const TSLanguage *language(int lang) {
  static TSLanguage *(*const all[])(void) = {LANGUAGES(LIST)};
  if (lang < 0 || (size_t)lang >= sizeof all / sizeof *all || !all[lang]) return NULL;
  return all[lang]();
}

enum { ERROR_SYMBOL = 65535, BROKEN = 1, MISSING = 2 };

// flatten visits every node once and keeps the named ones. A kept node's next
// is filled in when the walk leaves it.
static int64_t flatten(TSNode root, svc_node **out) {
  size_t size = (size_t)ts_node_descendant_count(root) + 1, count = 0;
  svc_node *nodes = malloc(size * sizeof *nodes);
  if (!nodes) return -2;
  size_t open_size = 256, depth = 0;
  uint32_t *open = malloc(open_size * sizeof *open);
  if (!open) { free(nodes); return -2; }
  TSTreeCursor cursor = ts_tree_cursor_new(root);
  size_t level = 0;  // of the cursor, unnamed nodes counted
  for (;;) {
    TSNode n = ts_tree_cursor_current_node(&cursor);
    uint16_t symbol = ts_node_symbol(n);
    bool keep = (ts_node_is_named(n) || ts_node_is_missing(n)) && count < size;
    if (keep) {
      TSPoint from = ts_node_start_point(n), to = ts_node_end_point(n);
      nodes[count] = (svc_node){
        .kind = symbol == ERROR_SYMBOL ? 0 : symbol,
        .field = ts_tree_cursor_current_field_id(&cursor),
        .depth = depth > 65535 ? 65535 : (uint16_t)depth,
        .flags = (symbol == ERROR_SYMBOL ? BROKEN : 0) | (ts_node_is_missing(n) ? MISSING : 0),
        .start = ts_node_start_byte(n), .end = ts_node_end_byte(n), .row = from.row, .end_row = to.row,
        .next = (uint32_t)count + 1,
      };
    }
    if (level + 1 >= open_size) {
      uint32_t *more = realloc(open, 2 * open_size * sizeof *open);
      if (!more) break;
      open = more;
      open_size *= 2;
    }
    open[level] = keep ? (uint32_t)count : UINT32_MAX;
    if (keep) count++;
    if (ts_tree_cursor_goto_first_child(&cursor)) {
      level++;
      if (keep) depth++;
      continue;
    }
    for (;;) {
      if (open[level] != UINT32_MAX) nodes[open[level]].next = (uint32_t)count;
      if (level == 0) goto done;
      if (ts_tree_cursor_goto_next_sibling(&cursor)) break;
      ts_tree_cursor_goto_parent(&cursor);
      level--;
      if (open[level] != UINT32_MAX) depth--;
    }
  }
done:
  ts_tree_cursor_delete(&cursor);
  free(open);
  *out = nodes;
  return (int64_t)count;
}

int64_t svc_parse(int lang, const char *source, uint32_t length, uint64_t micros, svc_node **out) {
  const TSLanguage *l = language(lang);
  if (!l) return -3;
  TSParser *parser = ts_parser_new();
  if (!parser) return -2;
  int64_t count = -3;
  if (ts_parser_set_language(parser, l)) {
    ts_parser_set_timeout_micros(parser, micros);
    TSTree *tree = ts_parser_parse_string(parser, NULL, source, length);
    count = -1;
    if (tree) {
      count = flatten(ts_tree_root_node(tree), out);
      ts_tree_delete(tree);
    }
  }
  ts_parser_delete(parser);
  return count;
}

int svc_parse_pair(int lang, const char *old_source, uint32_t old_length, const char *new_source, uint32_t new_length,
                   svc_edit e, uint64_t micros, svc_node **old_out, int64_t *old_count, svc_node **new_out, int64_t *new_count) {
  const TSLanguage *l = language(lang);
  if (!l) return -3;
  TSParser *parser = ts_parser_new();
  if (!parser) return -2;
  int result = -3;
  TSTree *before = NULL, *after = NULL;
  if (!ts_parser_set_language(parser, l)) goto done;
  ts_parser_set_timeout_micros(parser, micros);
  result = -1;
  before = ts_parser_parse_string(parser, NULL, old_source, old_length);
  if (!before) goto done;
  *old_count = flatten(ts_tree_root_node(before), old_out);
  TSInputEdit edit = {e.start, e.old_end, e.new_end, {e.start_row, e.start_column}, {e.old_row, e.old_column}, {e.new_row, e.new_column}};
  ts_tree_edit(before, &edit);
  after = ts_parser_parse_string(parser, before, new_source, new_length);
  if (!after) goto done;
  *new_count = flatten(ts_tree_root_node(after), new_out);
  result = *old_count < 0 || *new_count < 0 ? -2 : 0;
done:
  if (after) ts_tree_delete(after);
  if (before) ts_tree_delete(before);
  ts_parser_delete(parser);
  return result;
}

uint32_t svc_names(int lang, bool fields, char *buf, uint32_t size) {
  const TSLanguage *l = language(lang);
  if (!l) return 0;
  uint32_t n = fields ? ts_language_field_count(l) + 1 : ts_language_symbol_count(l), used = 0;
  for (uint32_t i = 0; i < n; i++) {
    const char *name = fields ? (i ? ts_language_field_name_for_id(l, (uint16_t)i) : "") : ts_language_symbol_name(l, (uint16_t)i);
    if (!name) name = "";
    for (; *name; name++, used++)
      if (used < size) buf[used] = *name == '\n' ? ' ' : *name;
    if (used < size) buf[used] = '\n';
    used++;
  }
  return used;
}
