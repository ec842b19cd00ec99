// Reads files with the grammars under a sanitizer (.ci/sanitize-grammars): each
// as it is, then cut short and changed in its middle, as code is that somebody
// is writing. The arena is left out, so that every block is one of its own.
#include "../flatten.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// number is the place of a language in flatten.c's list.
static int number(const char *name) {
  static const char *const all[] = {"c", "cpp", "csharp", "elixir", "go", "java", "javascript", "kotlin", "php",
                                    "python", "ruby", "rust", "scala", "swift", "tsx", "typescript"};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (!strcmp(all[i], name)) return (int)i;
  return -1;
}

static int parse(int lang, const char *text, uint32_t length) {
  // Each text is a block of its own, so that reading past its end is seen.
  char *old = malloc(length ? length : 1), *new = malloc(length + 1);
  if (!old || !new) return -2;
  memcpy(old, text, length);
  uint32_t at = length / 2, row = 0, column = 0;
  for (uint32_t i = 0; i < at; i++) column = text[i] == '\n' ? (row++, 0) : column + 1;
  memcpy(new, text, at);
  new[at] = '"';
  memcpy(new + at + 1, text + at, length - at);
  svc_edit edit = {at, at, at + 1, row, column, row, column, row, column + 1};
  svc_nodes before = {0}, after = {0};
  int result = svc_parse(lang, old, length, new, length + 1, &edit, 0, &before, &after);
  free(before.nodes);
  free(after.nodes);
  free(old);
  free(new);
  return result;
}

// usage: main LANGUAGE FILE [LANGUAGE FILE]...
int main(int count, char **args) {
  svc_mend();
  for (int i = 1; i + 1 < count; i += 2) {
    FILE *f = fopen(args[i + 1], "rb");
    static char text[1 << 20];
    if (!f) return perror(args[i + 1]), 1;
    uint32_t length = (uint32_t)fread(text, 1, sizeof text, f);
    fclose(f);
    for (int part = 4; part > 0; part--) {
      int result = parse(number(args[i]), text, length / 4 * (uint32_t)part);
      if (result) return fprintf(stderr, "%s %s: %d\n", args[i], args[i + 1], result), 1;
    }
  }
  printf("%d files, each in four parts and with a change\n", (count - 1) / 2);
  return 0;
}
