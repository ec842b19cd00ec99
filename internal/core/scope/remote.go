package scope

import (
	"strings"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// foldedHosts are the hosts on which the case of a name does not matter.
var foldedHosts = lazy.Words("github.com gitlab.com bitbucket.org")

// hostAliases are second names of hosts, used where port 22 is closed.
var hostAliases = lazy.Table[map[string]string]{Make: func() map[string]string {
	return map[string]string{
		"ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com", "altssh.bitbucket.org": "bitbucket.org",
		"www.github.com": "github.com",
	}
}}

// Fingerprint returns what all addresses of one repository have in common:
// <host>/<owner>/<name>. It reads ssh, scp-like, git and http addresses and
// fingerprints themselves; groups may be nested. It reports false for a path
// on a machine and for everything else that names no host, owner and name.
func Fingerprint(remoteURL string) (string, bool) {
	if isFingerprint(remoteURL) {
		return remoteURL, true // nearly always: clients send them as they are kept
	}
	host, path, ok := splitRemote(strings.Trim(remoteURL, " \t\r\n"))
	if !ok {
		return "", false
	}
	host = strings.TrimSuffix(lower(host), ".")
	if alias := hostAliases.Get()[host]; alias != "" {
		host = alias
	}
	path = strings.Trim(path, "/")
	if foldedHosts.Has(host) {
		path = strings.ToLower(path)
	}
	elems := strings.Split(path, "/")
	if len(elems) < 2 || !validHost(host) {
		return "", false
	}
	for _, e := range elems {
		bad := func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`\?#:`, r) }
		if e == "" || e == "." || e == ".." || strings.ContainsFunc(e, bad) {
			return "", false
		}
	}
	return host + "/" + strings.Join(withoutGit(elems), "/"), true
}

// isFingerprint reports whether s surely is one already: plain names in small
// letters, joined by single slashes.
func isFingerprint(s string) bool {
	host, slashes, last := len(s), 0, byte('/')
	for i := range len(s) {
		c := s[i]
		switch {
		case c == '/':
			if host = min(host, i); last == '/' || last == '.' || last == '-' {
				return false
			}
			slashes++
		case c == '.' || c == '-':
			if last == '/' {
				return false
			}
		case c != '_' && (c < '0' || '9' < c) && (c < 'a' || 'z' < c):
			return false
		}
		last = c
	}
	return slashes >= 2 && last != '/' && host <= 253 && hostAliases.Get()[s[:host]] == "" && !strings.HasSuffix(s, ".git")
}

// withoutGit drops .git from the end of a path, as a suffix or a folder, as
// long as an owner and a name are left.
func withoutGit(elems []string) []string {
	for {
		last := len(elems) - 1
		base := elems[last]
		if n := len(base) - len(".git"); n >= 0 && lower(base[n:]) == ".git" {
			base = base[:n]
		}
		switch {
		case base == elems[last] || base == "." || base == ".." || base == "" && last < 2:
			return elems
		case base == "":
			elems = elems[:last]
		default:
			elems[last] = base
		}
	}
}

// splitRemote cuts an address into host, without user and port, and path.
func splitRemote(s string) (host, path string, ok bool) {
	if kind, rest, ok := strings.Cut(s, "://"); ok {
		rest, _, _ = strings.Cut(rest, "?")
		rest, _, _ = strings.Cut(rest, "#")
		authority, path, _ := strings.Cut(rest, "/")
		authority = authority[strings.LastIndexByte(authority, '@')+1:]
		host, _, _ = strings.Cut(authority, ":")
		return host, path, scheme.Get().MatchString(kind+"://") && lower(kind) != "file" && !hasControl(s)
	}
	before, after, colon := strings.Cut(s, ":")
	if colon && !strings.Contains(before, "/") {
		host = before[strings.LastIndexByte(before, '@')+1:]
		return host, after, len(strings.TrimSuffix(host, ".")) > 1 && !hasControl(s) // one letter is a drive
	}
	host, path, ok = strings.Cut(s, "/")
	return host, path, ok // a fingerprint itself
}

func validHost(h string) bool {
	return h != "" && len(h) <= 253 && strings.Trim(h, "abcdefghijklmnopqrstuvwxyz0123456789.-_") == "" && strings.Trim(h, ".-") == h
}
