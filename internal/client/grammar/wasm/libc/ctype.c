// The classes of characters that scanners of grammars ask for, as the C locale
// of glibc has them: a letter outside of ASCII is none. WebAssembly's library
// knows all of Unicode, and trees would differ between builds.
#include <wctype.h>

#undef iswdigit

static int within(wint_t c, char from, char to) { return c >= (wint_t)from && c <= (wint_t)to; }

int iswdigit(wint_t c) { return within(c, '0', '9'); }
int iswupper(wint_t c) { return within(c, 'A', 'Z'); }
int iswlower(wint_t c) { return within(c, 'a', 'z'); }
int iswalpha(wint_t c) { return iswupper(c) || iswlower(c); }
int iswalnum(wint_t c) { return iswalpha(c) || iswdigit(c); }
int iswspace(wint_t c) { return c == ' ' || within(c, '\t', '\r'); }
int iswxdigit(wint_t c) { return iswdigit(c) || within(c, 'a', 'f') || within(c, 'A', 'F'); }
