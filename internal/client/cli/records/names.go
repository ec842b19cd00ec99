package records

import (
	"context"
	"net/url"
	"regexp"
	"strings"

	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/coord"
)

// People name things as they see them: INT-4, int-4, 4, or the address of its
// page in the dashboard.

var refInLink = regexp.MustCompile(`(?i)(?:^|/)((?:INT|CF)-\d{1,9})(?:$|[/?#])`)

// unlinked returns the ref that a link from the dashboard is about, or the
// word itself.
func unlinked(word string) string {
	if u, err := url.Parse(word); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
		if m := refInLink.FindStringSubmatch(u.Path + "/" + u.Fragment); m != nil {
			return m[1]
		}
		if ref := u.Query().Get("ref"); ref != "" {
			return ref
		}
	}
	return strings.TrimSpace(word)
}

// intentRef is the intent that a word names.
func intentRef(word string) (string, error) {
	n, ok := coord.ParseIntentRef(unlinked(word))
	if !ok {
		return "", term.Usagef("%q is not an intent such as INT-7", word)
	}
	return coord.IntentRef(n), nil
}

// conflictRef is the conflict that a word names.
func conflictRef(word string) (string, error) {
	n, ok := coord.ParseConflictRef(unlinked(word))
	if !ok {
		return "", term.Usagef("%q is not a conflict such as CF-3", word)
	}
	return coord.ConflictRef(n), nil
}

// isRef tells a ref with its prefix, or a link to one, from other words.
func isRef(word, prefix string) bool {
	word = unlinked(word)
	return len(word) > len(prefix) && strings.EqualFold(word[:len(prefix)], prefix) && strings.Trim(word[len(prefix):], "0123456789") == ""
}

// target is whom or what a word means where a message or a question goes: a
// person by @name or address, an intent, a conflict, #team or a repo's
// channel; whatever has a prefix already is taken as it is.
func target(ctx context.Context, c *remote.Client, word string) (string, error) {
	before, _, prefixed := strings.Cut(word, ":")
	switch {
	case isRef(word, "INT-"):
		ref, err := intentRef(word)
		return "intent:" + ref, err
	case isRef(word, "CF-"):
		ref, err := conflictRef(word)
		return "conflict:" + ref, err
	case prefixed && !strings.ContainsAny(before, "/@ "):
		return word, nil
	case strings.HasPrefix(word, "#"):
		return "channel:" + word[1:], nil
	case strings.Contains(word, "@"):
		email, err := recipient(ctx, c, word)
		return "user:" + email, err
	case strings.Count(word, "/") == 1:
		return "channel:" + word, nil
	}
	return "", term.Usagef("%q is nobody to write to; give @name, an email, INT-n, CF-n, #team or #owner/name", word)
}
