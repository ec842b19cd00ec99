//go:build cgo && !lean && !apart

#include "flatten.h"

#include "arena.h"

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

// In the order of the table in parse.go. A module of WebAssembly has one.
#ifndef LANGUAGES
#define LANGUAGES(X) X(c) X(cpp) X(c_sharp) X(elixir) X(go) X(java) X(javascript) X(kotlin) X(php) X(python) \
  X(ruby) X(rust) X(scala) X(swift) X(tsx) X(typescript)
#endif
#define DECLARE(name) extern TSLanguage *tree_sitter_##name(void) WEAK;
LANGUAGES(DECLARE)
#define LIST(name) tree_sitter_##name,

#ifdef __wasm__  // there an allocation of nothing has room for eight bytes
static const TSLanguage *mended(const TSLanguage *l) { return l; }
void svc_mend(void) {}
#else
// A language as the parser's header has it, as far as it is told apart here.
typedef struct {
  uint32_t counts[9];
  uint16_t longest_alias;
  const void *tables[15];
  uint16_t keyword;
  struct {
    const void *states, *symbols;
    void *(*create)(void);
    void *others[4];
  } scanner;
  const void *states;
} known_language;

extern TSLanguage *tree_sitter_swift(void) WEAK;
extern void *tree_sitter_swift_external_scanner_create(void) WEAK;
static known_language swift;
static bool swift_is_mended;

static void *room(void) { return calloc(1, 64); }

// The scanner of Swift asks for a state of no bytes and keeps four in it. It
// gets room, in a copy of the language; if the copy does not have the scanner
// where it is known to be, the form of a language has changed and it stays.
void svc_mend(void) {
  if (!tree_sitter_swift) return;
  memcpy(&swift, tree_sitter_swift(), sizeof swift);
  swift_is_mended = swift.scanner.create == tree_sitter_swift_external_scanner_create;
  swift.scanner.create = room;
}

static const TSLanguage *mended(const TSLanguage *l) {
  return swift_is_mended && l == tree_sitter_swift() ? (const TSLanguage *)&swift : l;
}
#endif

static const TSLanguage *language(int lang) {
  static TSLanguage *(*const all[])(void) = {LANGUAGES(LIST)};
  if (lang < 0 || (size_t)lang >= sizeof all / sizeof *all || !all[lang]) return NULL;
  return mended(all[lang]());
}

enum { ERROR_SYMBOL = 65535, BROKEN = 1, MISSING = 2 };

// A flat is a tree as an array of its named nodes. Beside each node stands the
// subtree that tree-sitter holds for it: the same one in two trees of a file
// means the same text with the same nodes.
typedef struct {
  svc_node *nodes;
  const void **subtrees;
  size_t count, size;
} flat;

// A shared is an earlier tree of the same file, and how far what comes after
// the edit has moved.
typedef struct {
  const flat *old;
  size_t at;  // no node before it is asked for again
  uint32_t edit_start, edit_end, bytes, rows;  // the moves are modulo 2^32
} shared;

// subtree_of is what a node's id points to: a word that is odd for a small
// leaf, and else the address of what trees share.
static const void *subtree_of(TSNode n) {
  const void *s = *(const void *const *)n.id;
  return (uintptr_t)s & 1 ? NULL : s;
}

static uint16_t capped(size_t depth) { return depth > UINT16_MAX ? UINT16_MAX : (uint16_t)depth; }

static bool grow(flat *f, size_t more) {
  if (f->count + more <= f->size) return true;
  size_t size = 2 * (f->count + more);
  svc_node *nodes = realloc(f->nodes, size * sizeof *nodes);
  if (nodes) f->nodes = nodes;
  const void **subtrees = realloc(f->subtrees, size * sizeof *subtrees);
  if (subtrees) f->subtrees = subtrees;
  if (!nodes || !subtrees) return false;
  f->size = size;
  return true;
}

// take copies node n and all below it from the earlier tree, if it is there.
// Both trees are walked in the order of the text, so the search goes on where
// it stopped.
static bool take(flat *f, shared *s, const svc_node *n, const void *subtree) {
  if (!s || !subtree) return false;
  bool moved = n->start >= s->edit_end;
  if (!moved && n->end >= s->edit_start) return false;
  uint32_t bytes = moved ? s->bytes : 0, rows = moved ? s->rows : 0, start = n->start - bytes;
  const flat *old = s->old;
  while (s->at < old->count && old->nodes[s->at].start < start) s->at++;
  size_t from = s->at;
  while (from < old->count && old->nodes[from].start == start && old->subtrees[from] != subtree) from++;
  if (from == old->count || old->nodes[from].start != start) return false;
  const svc_node *was = &old->nodes[from];
  size_t count = was->next - from;
  if (was->end - was->start != n->end - n->start || was->kind != n->kind || !grow(f, count)) return false;
  uint32_t shift = (uint32_t)f->count - (uint32_t)from;
  for (size_t i = 0; i < count; i++) {
    svc_node c = old->nodes[from + i];
    c.start += bytes, c.end += bytes, c.row += rows, c.end_row += rows, c.next += shift;
    c.depth = capped((size_t)n->depth + c.depth - was->depth);
    f->nodes[f->count + i] = c;
    f->subtrees[f->count + i] = old->subtrees[from + i];
  }
  f->nodes[f->count].field = n->field;
  f->count += count;
  return true;
}

// flatten visits every node once and keeps the named ones. A kept node's next
// is filled in when the walk leaves it.
static bool flatten(TSNode root, shared *s, flat *f) {
  if (!grow(f, (size_t)ts_node_descendant_count(root) / 2 + 16)) return false;
  size_t open_size = 256, depth = 0, level = 0;  // the level counts unnamed nodes, too
  uint32_t *open = malloc(open_size * sizeof *open);
  if (!open) return false;
  TSTreeCursor cursor = ts_tree_cursor_new(root);
  bool ok = false;
  for (;;) {
    TSNode n = ts_tree_cursor_current_node(&cursor);
    bool missing = ts_node_is_missing(n), keep = missing || ts_node_is_named(n), whole = false;
    open[level] = UINT32_MAX;
    if (keep) {
      if (!grow(f, 1)) break;
      uint16_t symbol = ts_node_symbol(n);
      svc_node kept = {
        .kind = symbol == ERROR_SYMBOL ? 0 : symbol,
        .field = ts_tree_cursor_current_field_id(&cursor),
        .depth = capped(depth),
        .flags = (symbol == ERROR_SYMBOL ? BROKEN : 0) | (missing ? MISSING : 0),
        .start = ts_node_start_byte(n), .end = ts_node_end_byte(n),
        .row = ts_node_start_point(n).row, .end_row = ts_node_end_point(n).row,
        .next = (uint32_t)f->count + 1,
      };
      const void *subtree = subtree_of(n);
      whole = take(f, s, &kept, subtree);
      if (!whole) {
        open[level] = (uint32_t)f->count;
        f->nodes[f->count] = kept;
        f->subtrees[f->count++] = subtree;
      }
    }
    if (!whole && ts_tree_cursor_goto_first_child(&cursor)) {
      if (open[level] != UINT32_MAX) depth++;
      if (++level == open_size) {
        uint32_t *more = realloc(open, 2 * open_size * sizeof *open);
        if (!more) break;
        open = more;
        open_size *= 2;
      }
      continue;
    }
    for (;;) {
      if (open[level] != UINT32_MAX) f->nodes[open[level]].next = (uint32_t)f->count;
      if (level == 0) break;
      if (ts_tree_cursor_goto_next_sibling(&cursor)) break;
      ts_tree_cursor_goto_parent(&cursor);
      if (open[--level] != UINT32_MAX) depth--;
    }
    if (level == 0) {
      ok = true;
      break;
    }
  }
  ts_tree_cursor_delete(&cursor);
  free(open);
  return ok;
}

int svc_parse(int lang, const char *old_source, uint32_t old_length, const char *new_source, uint32_t new_length,
              const svc_edit *e, uint64_t micros, svc_nodes *old_out, svc_nodes *new_out) {
  const TSLanguage *l = language(lang);
  if (!l) return -3;
  svc_arena *arena = svc_arena_open();
  if (!arena) return -2;
  int result = -2;
  flat old = {0}, new = {0};
  TSParser *parser = ts_parser_new();
  if (!parser) goto done;
  result = -3;
  if (!ts_parser_set_language(parser, l)) goto done;
  ts_parser_set_timeout_micros(parser, micros);
  result = -1;
  TSTree *before = ts_parser_parse_string(parser, NULL, old_source, old_length);
  if (!before) goto done;
  result = flatten(ts_tree_root_node(before), NULL, &old) ? 0 : -2;
  if (result || !e) goto done;
  TSInputEdit edit = {e->start, e->old_end, e->new_end, {e->start_row, e->start_column}, {e->old_row, e->old_column}, {e->new_row, e->new_column}};
  ts_tree_edit(before, &edit);
  result = -1;
  TSTree *after = ts_parser_parse_string(parser, before, new_source, new_length);
  if (!after) goto done;
  shared s = {.old = &old, .edit_start = e->start, .edit_end = e->new_end, .bytes = e->new_end - e->old_end, .rows = e->new_row - e->old_row};
  result = flatten(ts_tree_root_node(after), &s, &new) ? 0 : -2;
done:
  if (parser) ts_parser_delete(parser);  // the trees end with the arena
  svc_arena_close(arena);
  free(old.subtrees);
  free(new.subtrees);
  *old_out = (svc_nodes){old.nodes, (uint32_t)old.count};
  *new_out = (svc_nodes){new.nodes, (uint32_t)new.count};
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
