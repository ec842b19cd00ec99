// Memory of one parse. A parse makes some hundred thousand small blocks that
// all end together: they are cut from a few large ones, and thrown away with
// them instead of one by one.
#include <stddef.h>

typedef struct svc_arena svc_arena;

// svc_arena_install makes tree-sitter take its memory from the arena that the
// calling thread has open, or from malloc where it has none.
void svc_arena_install(void);

// svc_arena_open opens an arena for the calling thread; NULL without memory.
svc_arena *svc_arena_open(void);

// svc_arena_close throws away all memory that was taken since it was opened.
void svc_arena_close(svc_arena *);
