package peertext

import "strings"

// Masked stands where a secret was.
const Masked = "[secret removed]"

// A secret is a kind of credential that can be told by its beginning.
type secret struct {
	prefix  string
	charset string // further characters besides letters and digits
	min     int    // characters after the prefix
	upper   bool   // no small letters
}

// secrets are the credentials we mask. Lengths are those of real ones: short
// look-alikes such as svc_handler are names, not secrets.
var secrets = []secret{
	{prefix: "svc_", charset: "_-", min: 43},
	{prefix: "whsec_", charset: "+/=_-", min: 32},
	{prefix: "ghp_", min: 36},
	{prefix: "gho_", min: 36},
	{prefix: "ghu_", min: 36},
	{prefix: "ghs_", charset: "._-", min: 36},
	{prefix: "ghr_", min: 36},
	{prefix: "github_pat_", charset: "_", min: 40},
	{prefix: "glpat-", charset: "._-", min: 20},
	{prefix: "AKIA", min: 16, upper: true},
	{prefix: "ASIA", min: 16, upper: true},
	{prefix: "AIza", charset: "_-", min: 35},
	{prefix: "sk-ant-", charset: "_-", min: 32},
	{prefix: "sk-proj-", charset: "_-", min: 32},
	{prefix: "sk_live_", min: 20},
	{prefix: "rk_live_", min: 20},
	{prefix: "xoxb-", charset: "-", min: 20},
	{prefix: "xoxp-", charset: "-", min: 20},
	{prefix: "xoxa-", charset: "-", min: 20},
	{prefix: "xapp-", charset: "-", min: 20},
	{prefix: "npm_", min: 36},
}

// maskSecrets replaces credentials and private keys by Masked. It runs on
// scrubbed text: a secret split by invisible characters is whole again there.
func maskSecrets(s string) string {
	s = maskKeys(s)
	for _, k := range secrets {
		s = k.mask(s)
	}
	return s
}

func (k secret) mask(s string) string {
	at := strings.Index(s, k.prefix)
	if at < 0 {
		return s
	}
	var b strings.Builder
	for ; at >= 0; at = strings.Index(s, k.prefix) {
		end := at + len(k.prefix)
		for end < len(s) && k.has(s[end]) {
			end++
		}
		if end-at-len(k.prefix) < k.min {
			// Step over one byte only: the secret may begin inside, as in
			// ghs_ghs_….
			b.WriteString(s[:at+1])
			s = s[at+1:]
			continue
		}
		b.WriteString(s[:at])
		b.WriteString(Masked)
		s = s[end:]
	}
	b.WriteString(s)
	return b.String()
}

func (k secret) has(c byte) bool {
	switch {
	case c >= '0' && c <= '9', c >= 'A' && c <= 'Z':
		return true
	case c >= 'a' && c <= 'z':
		return !k.upper
	}
	return strings.IndexByte(k.charset, c) >= 0
}

// maskKeys replaces PEM blocks of private keys; one without an end reaches to
// the end of the text.
func maskKeys(s string) string {
	const begin, dashes = "-----BEGIN ", "-----"
	from := 0
	for {
		at := strings.Index(s[from:], begin)
		if at < 0 {
			return s
		}
		at += from
		label, _, closed := strings.Cut(s[at+len(begin):], dashes)
		if !closed || len(label) > 60 || !strings.HasSuffix(label, "PRIVATE KEY") && !strings.HasSuffix(label, "PRIVATE KEY BLOCK") {
			from = at + len(begin)
			continue
		}
		end := len(s)
		if i := strings.Index(s[at:], "-----END "); i >= 0 {
			_, after, _ := strings.Cut(s[at+i+len("-----END "):], dashes)
			end = len(s) - len(after)
		}
		s = s[:at] + Masked + s[end:]
		from = at
	}
}
