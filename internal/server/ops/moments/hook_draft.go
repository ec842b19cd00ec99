package moments

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/scope"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/ops/work"
)

// draft makes a draft intent, if the policy wants one and there is none.
func (h *hook) draft(ctx context.Context, text string) error {
	if h.intent != nil {
		return nil
	}
	rules, err := h.EffectivePolicy(ctx, h.Who.OrgID, h.repo.ID)
	if err != nil || !rules.AutoDraft || !h.Who.Role.CanOwnIntents() {
		return err
	}
	i := h.newIntent(h.draftTitle(text), coord.IntentDraft)
	i.SessionID, i.Branch = &h.session.ID, h.session.Branch
	return h.announce(ctx, &i, coord.EventIntentDrafted)
}

var sentenceEnd = regexp.MustCompile(`[.!?](\s|$)|\n`)

// draftTitle is the first sentence of what the person asked, at most 80
// characters. Where code must not leave, neither do words about it.
func (h *hook) draftTitle(text string) string {
	text = strings.TrimLeft(strings.TrimSpace(text), "# ")
	if text == "" || h.Who.DataMode == coord.DataMetadataOnly {
		branch := "an unnamed branch"
		if h.session.Branch != nil {
			branch = *h.session.Branch
		}
		if h.session.Tool == wire.EditorTool {
			return "In an editor, on " + branch
		}
		return "Session on " + branch
	}
	if at := sentenceEnd.FindStringIndex(text); at != nil {
		text = text[:at[0]]
	}
	text = coord.Visible(text)
	const most = 80
	if runes := []rune(text); len(runes) > most {
		text = strings.TrimSpace(string(runes[:most-1])) + "…"
	}
	return text
}

var planToken = regexp.MustCompile(`[A-Za-z0-9_./@*{}\[\]-]+(?:#[A-Za-z0-9_.$]+)?`)
var fileName = regexp.MustCompile(`^[^/]+\.[A-Za-z][A-Za-z0-9]{0,9}$`)

// namedIn returns the paths and symbols that a text names: words that look
// like files of a repository.
func namedIn(text string) (set coord.ScopeSet) {
	for _, word := range planToken.FindAllString(text, -1) {
		word = strings.Trim(word, ".,:;")
		path, _, symbol := strings.Cut(word, "#")
		last := path[strings.LastIndex(path, "/")+1:]
		if strings.Contains(path, "//") || !fileName.MatchString(last) || strings.HasPrefix(path, "www.") {
			continue
		}
		if !strings.Contains(path, "/") && !knownExtension(last) {
			continue
		}
		if symbol {
			set.Symbols = append(set.Symbols, word)
		}
		set.Paths = append(set.Paths, path)
	}
	return set
}

var extensions = strings.Fields("go ts tsx js jsx mjs py java kt cs rs rb php c h cc cpp hpp swift scala sql proto graphql yaml " +
	"yml json toml md css html sh")

// knownExtension tells file names from other words with a dot, such as e.g.
// or example.com.
func knownExtension(name string) bool {
	return slices.Contains(extensions, strings.ToLower(name[strings.LastIndex(name, ".")+1:]))
}

func (h *hook) scopeFromPlan(ctx context.Context) error {
	named := namedIn(h.event.PlanText)
	add := func(have *[]string, items []string, canonical func(string) (coord.ScopeSet, bool), pick func(coord.ScopeSet) []string) {
		for _, it := range items {
			set, ok := canonical(it)
			if !ok || len(*have) >= work.MaxScope || slices.Contains(*have, pick(set)[0]) {
				continue
			}
			*have = append(*have, pick(set)[0])
		}
	}
	before := len(h.intent.Scope.Paths) + len(h.intent.Scope.Symbols)
	add(&h.intent.Scope.Paths, named.Paths, func(p string) (coord.ScopeSet, bool) {
		set, bad := scope.Canonical("", coord.ScopeSet{Paths: []string{p}})
		return set, len(bad) == 0
	}, func(s coord.ScopeSet) []string { return s.Paths })
	add(&h.intent.Scope.Symbols, named.Symbols, func(p string) (coord.ScopeSet, bool) {
		set, bad := scope.Canonical("", coord.ScopeSet{Symbols: []string{p}})
		return set, len(bad) == 0
	}, func(s coord.ScopeSet) []string { return s.Symbols })
	if h.Who.DataMode == coord.DataFull && h.intent.PlanMD == nil {
		h.intent.PlanMD = ground.Optional(h.event.PlanText)
	}
	if len(h.intent.Scope.Paths)+len(h.intent.Scope.Symbols) == before && h.intent.PlanMD == nil {
		return nil
	}
	h.intent.LastActivityAt = h.Now
	if err := h.SaveIntent(ctx, h.intent); err != nil {
		return err
	}
	facts := ground.IntentFacts(*h.intent)
	facts.ScopePaths = len(h.intent.Scope.Paths)
	if err := h.TellOf(ctx, coord.EventIntentUpdated, h.intent.ID, h.intent.Repo.ID, facts); err != nil {
		return err
	}
	return h.PutIntent(ctx, *h.intent)
}
