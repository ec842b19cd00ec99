package wire

import (
	"fmt"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

// ReleasePath is where a server tells of the newest client.
const ReleasePath = "/cli/latest.json"

// A Release is a version of the client and its programs. It is signed by
// whoever released it: a server only passes it on and is not trusted.
type Release struct {
	Version    string      `json:"version"`
	ReleasedAt coord.Time  `json:"released_at"`
	ExpiresAt  *coord.Time `json:"expires_at" doc:"After this a client no longer takes the release for the newest"`
	NotesURL   string      `json:"notes_url"`
	Artifacts  []Artifact  `json:"artifacts"`
	KeyID      string      `json:"key_id" doc:"Which of the client's keys to check the signature with"`
	Signature  string      `json:"signature" doc:"Base64 of an Ed25519 signature"`
}

// An Artifact is the client for one platform. Its URL is not signed: the
// digest is, so any mirror will do. A relative one starts at the server.
type Artifact struct {
	OS     string `json:"os"`
	Arch   string `json:"arch"`
	URL    string `json:"url"`
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}

// SignedText is what the signature is over: lines rather than JSON, whose
// spelling is not fixed. No field can hold a line break, so no two releases
// share a text.
func (r Release) SignedText() ([]byte, error) {
	var b strings.Builder
	b.WriteString("svc-cli-release-v1\n")
	expires := "never"
	if r.ExpiresAt != nil {
		expires = r.ExpiresAt.String()
	}
	for _, f := range []struct{ name, value string }{
		{"version", r.Version}, {"released", r.ReleasedAt.String()}, {"expires", expires}, {"notes", r.NotesURL},
	} {
		if err := oneWord(f.name, f.value); err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%s %s\n", f.name, f.value)
	}
	for _, a := range r.Artifacts {
		for _, v := range []string{a.OS, a.Arch, a.SHA256} {
			if err := oneWord("artifact", v); err != nil || v == "" {
				return nil, fmt.Errorf("artifact %s/%s is incomplete", a.OS, a.Arch)
			}
		}
		fmt.Fprintf(&b, "artifact %s %s %s %d\n", a.OS, a.Arch, a.SHA256, a.Size)
	}
	return []byte(b.String()), nil
}

func oneWord(name, s string) error {
	if strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("%s %q holds a character that a release cannot", name, s)
	}
	return nil
}
