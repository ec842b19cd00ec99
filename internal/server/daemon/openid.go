package daemon

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/auth"
)

// openID returns the configured OpenID providers.
func (c Config) openID() (out []*auth.OIDC, err error) {
	var all []auth.Provider
	if c.OIDCIssuer != "" {
		roles, err := parseRoles(c.OIDCRoles)
		if err != nil {
			return nil, err
		}
		all = append(all, auth.Provider{
			Name:         c.OIDCName,
			Issuer:       c.OIDCIssuer,
			ClientID:     c.OIDCClientID,
			ClientSecret: c.OIDCSecret,
			TrustEmail:   c.OIDCTrust,
			GroupsClaim:  c.OIDCGroups,
			Roles:        roles,
			Domains:      strings.FieldsFunc(c.OIDCDomains, func(r rune) bool { return r == ',' || r == ' ' }),
			Replaces:     c.OIDCReplaces,
		})
	}
	if c.OIDCMore != "" {
		more, err := readProviders(c.OIDCMore)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	for i, p := range all {
		if slices.ContainsFunc(all[:i], func(x auth.Provider) bool { return x.Name == p.Name }) {
			return nil, fmt.Errorf("two OpenID providers are called %q; give each a name of its own", p.Name)
		}
		out = append(out, auth.NewOIDC(p, c.PublicURL+"/v1/auth/oidc/callback"))
	}
	return out, nil
}

func readProviders(file string) (out []auth.Provider, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("--oidc-more: %w", err)
	}
	defer f.Close()
	d := json.NewDecoder(f)
	d.DisallowUnknownFields()
	if err := d.Decode(&out); err != nil {
		return nil, fmt.Errorf("--oidc-more: %s: %w", file, err)
	}
	for i, p := range out {
		if p.Name == "" || p.ClientID == "" || checkURL(p.Issuer) != nil || p.Issuer == "" {
			return nil, fmt.Errorf("--oidc-more: %s: entry %d needs name, issuer (an address) and client_id", file, i+1)
		}
		for group, role := range p.Roles {
			if !slices.Contains(coord.Roles(), role) {
				return nil, fmt.Errorf("--oidc-more: %s: %q is no role (of group %q)", file, role, group)
			}
		}
	}
	return out, nil
}

// parseRoles reads group=role,...
func parseRoles(text string) (map[string]coord.Role, error) {
	out := map[string]coord.Role{}
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		group, role, ok := strings.Cut(part, "=")
		if !ok || group == "" || !slices.Contains(coord.Roles(), coord.Role(role)) {
			return nil, fmt.Errorf("%q is not group=role; roles are owner, admin, member, viewer and billing", part)
		}
		out[group] = coord.Role(role)
	}
	return out, nil
}

func checkRoles(text string) error {
	_, err := parseRoles(text)
	return err
}
