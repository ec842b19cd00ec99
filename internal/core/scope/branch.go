package scope

import (
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

// ValidBranch reports whether git would take s as the name of a branch: what
// git check-ref-format --branch says, without the @{-1} forms, and without what
// cannot be seen, which git lets pass.
func ValidBranch(s string) bool {
	if isClean(s) && len(s) <= 255 && !strings.ContainsAny(s, "~^:?*[@{") && !strings.Contains(s, "..") && s[0] != '-' && s != "HEAD" &&
		!strings.HasSuffix(s, ".") && !strings.Contains(s, ".lock") {
		return true // nearly always
	}
	if s == "" || s == "@" || s == "HEAD" || len(s) > 255 || strings.HasPrefix(s, "-") || strings.HasPrefix(s, "/") ||
		strings.HasSuffix(s, "/") || strings.HasSuffix(s, ".") || strings.Contains(s, "..") || strings.Contains(s, "//") || strings.Contains(s,
		"@{") || !coord.IsName(s) {
		return false
	}
	for _, r := range s {
		if r <= ' ' || r == 0x7f || strings.ContainsRune("~^:?*[\\", r) {
			return false
		}
	}
	for part := range strings.SplitSeq(s, "/") {
		if strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return true
}
