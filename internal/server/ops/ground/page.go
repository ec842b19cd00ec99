package ground

import (
	"net/url"
	"strings"
)

// pages is where the dashboard shows records of a kind; those with a slash at
// the end have a page each. The dashboard knows every first part of them.
var pages = map[string]string{
	"intent":       "/intents/",
	"conflict":     "/conflicts/",
	"conversation": "/messages/",
	"message":      "/messages/",
	"question":     "/messages",
	"org":          "/settings",
	"status":       "/activity",
	"repo":         "/repos/",
	"project":      "/projects/",
	"session":      "/sessions",
	"user":         "/members",
	"invite":       "/members",
	"token":        "/settings/tokens",
	"webhook":      "/settings/integrations",
	"slack":        "/settings/integrations",
	"digest":       "/settings/integrations",
}

// URL returns an address of this service.
func (s *Ground) URL(path ...string) string {
	return s.Config.PublicURL + "/" + strings.Join(path, "/")
}

// PageURL returns the dashboard's address of a record.
func (s *Ground) PageURL(kind, ref string) string {
	page := pages[kind]
	if strings.HasSuffix(page, "/") {
		parts := strings.Split(ref, "/")
		for i, p := range parts {
			parts[i] = url.PathEscape(p)
		}
		page += strings.Join(parts, "/")
	}
	return s.Config.PublicURL + page
}

// ContractURL returns the dashboard's page of a contract, as a repo sees it.
func (s *Ground) ContractURL(key, repo string) string {
	return s.Config.PublicURL + "/contracts?" + url.Values{"key": {key}, "repo": {repo}}.Encode()
}
