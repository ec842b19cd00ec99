package stories

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

// owner is whoever looks on.
func (s *story) owner() *agent {
	return &agent{person: &person{User: s.org.Users[coord.Owner], token: s.org.Owner()}, name: "owner"}
}

func (s *story) asker(args []string) *agent {
	if len(args) > 0 {
		return s.agent(args[0])
	}
	return s.owner()
}

func query(kv map[string]string) string {
	q := url.Values{}
	for k, v := range kv {
		q.Set(k, v)
	}
	return "?" + q.Encode()
}

func (s *story) conflicts(args []string, kv map[string]string) string {
	if kv["status"] == "" && len(kv) == 0 {
		kv["status"] = "live"
	}
	var page wire.Page[coord.Conflict]
	if failed := s.call(s.asker(args), "GET", "/v1/conflicts"+query(kv), nil, &page, nil); failed != "" {
		return failed
	}
	if len(page.Items) == 0 {
		return "none\n"
	}
	slices.Reverse(page.Items)
	return conflictLines(page.Items)
}

func (s *story) conflict(args []string, _ map[string]string) string {
	var c coord.Conflict
	if failed := s.call(s.owner(), "GET", "/v1/conflicts/"+args[0], nil, &c, nil); failed != "" {
		return failed
	}
	out := conflictLine(c) + "  " + c.Explanation + "\n  " + c.Suggestion.Action + ": " + c.Suggestion.Text + "\n"
	if c.Override != nil {
		out += "  overridden by " + c.Override.By.Name + "\n"
	}
	if c.OverrideRequested != nil {
		out += "  override requested by " + c.OverrideRequested.By.Name + "\n"
	}
	for _, x := range c.Actions {
		out += "  " + string(x.Action) + " by " + x.By.Name + "\n"
	}
	return out
}

func conflictLines(cs []coord.Conflict) (out string) {
	for _, c := range cs {
		out += conflictLine(c)
	}
	return out
}

func conflictLine(c coord.Conflict) string {
	out := fmt.Sprintf("%s %s %s %s: %s < %s", c.Ref, c.Kind, c.Severity, c.Status, partyText(c, coord.Holder), partyText(c, coord.Challenger))
	if c.Resolution != nil {
		out += " as " + string(*c.Resolution)
	}
	if c.Previous != nil {
		out += " after " + *c.Previous
	}
	if c.CrossRepo {
		out += " across " + c.Repo.FullName + " and " + c.DependentRepo.FullName
	}
	return out + "\n"
}

func partyText(c coord.Conflict, role coord.PartyRole) string {
	for _, p := range c.Parties {
		if p.Role != role {
			continue
		}
		switch {
		case p.Intent != nil:
			return p.Intent.Ref + " (" + p.User.Name + ")"
		case p.User != nil:
			return p.User.Name
		}
		return p.Repo.FullName
	}
	return "?"
}

func intentText(i coord.Intent) string {
	out := fmt.Sprintf("%s %s of %s, %s", i.Ref, i.Status, i.Owner.Name, i.EffectiveMode)
	if i.ModeNote != nil {
		out += "\n  " + *i.ModeNote
	}
	if len(i.BlockedBy) > 0 {
		out += "\n  blocked by"
		for _, b := range i.BlockedBy {
			out += " " + b.Kind + " " + b.Ref
		}
	}
	return out + "\n"
}

func (s *story) intents(args []string, kv map[string]string) (out string) {
	if len(kv) == 0 {
		kv["status"] = "live"
	}
	var page wire.Page[coord.Intent]
	if failed := s.call(s.asker(args), "GET", "/v1/intents"+query(kv), nil, &page, nil); failed != "" {
		return failed
	}
	slices.Reverse(page.Items)
	for _, i := range page.Items {
		out += intentText(i)
	}
	if out == "" {
		return "none\n"
	}
	return out
}

func (s *story) intent(args []string, _ map[string]string) string {
	var i coord.Intent
	if failed := s.call(s.owner(), "GET", "/v1/intents/"+args[0], nil, &i, nil); failed != "" {
		return failed
	}
	out := intentText(i)
	for _, c := range i.Claims {
		out += fmt.Sprintf("  %s %s %s %s\n", c.Kind, c.Selector, c.Mode, c.Source)
	}
	return out
}

func (s *story) sessions(args []string, kv map[string]string) (out string) {
	var page wire.Page[coord.Session]
	if failed := s.call(s.owner(), "GET", "/v1/sessions"+query(kv), nil, &page, nil); failed != "" {
		return failed
	}
	var lines []string
	for _, x := range page.Items {
		line := fmt.Sprintf("%s %s %s", x.User.Name, x.Tool, x.Status)
		if x.Intent != nil {
			line += " " + x.Intent.Ref
		}
		if x.State != coord.AgentWorking && x.State != coord.AgentGone {
			line += " " + string(x.State)
			if x.Ref != nil {
				line += " " + *x.Ref
			}
		}
		line += statusText(x.StatusText)
		if x.FailOpens > 0 {
			line += fmt.Sprintf(" unchecked %d times", x.FailOpens)
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// saved shows the time saved of the week and what it is made of.
func (s *story) saved(_ []string, _ map[string]string) string {
	var stats wire.Stats
	if failed := s.call(s.owner(), "GET", "/v1/stats?days=7", nil, &stats, nil); failed != "" {
		return failed
	}
	if stats.TimeSavedHidden {
		return "hidden"
	}
	lines := []string{fmt.Sprintf("%d minutes", stats.TimeSavedMinutes)}
	if stats.TimeSavedWorth > 0 {
		lines[0] += fmt.Sprintf(", %.2f %s", stats.TimeSavedWorth, stats.TimeSavedIn)
	}
	for _, x := range stats.TimeSavedItems {
		line := fmt.Sprintf("%+d %s %s by %s", x.Minutes, x.Ref, x.Kind, x.By)
		if x.Who != nil {
			line += " of " + x.Who.Name
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func statusText(status *string) string {
	if status == nil {
		return ""
	}
	return " said " + *status
}

func (s *story) here(a *agent, body map[string]any) map[string]any {
	if a.session != "" {
		body["session_id"] = a.session
	} else {
		body["repo"] = a.repo
	}
	return body
}

func (s *story) check(args []string, kv map[string]string) string {
	a := s.agent(args[0])
	body := scopeOf(kv, "")
	if len(args) > 1 {
		body["paths"] = args[1:]
	}
	var out wire.ScopeChecked
	if failed := s.call(a, "POST", "/v1/scope-check", s.here(a, body), &out, nil); failed != "" {
		return failed
	}
	text := string(out.Decision) + ": " + out.Reason + "\n"
	for _, f := range out.Findings {
		text += fmt.Sprintf("  %s %s blocking=%v with %s: %s\n", f.Kind, f.Severity, f.Blocking, f.With.User.Name, f.Explanation)
	}
	return text
}

func (s *story) context(args []string, kv map[string]string) string {
	a := s.agent(args[0])
	body := map[string]any{}
	if len(args) > 1 {
		body["paths"] = args[1:]
	}
	var out wire.TeamPicture
	if failed := s.call(a, "POST", "/v1/team-context", s.here(a, body), &out, nil); failed != "" {
		return failed
	}
	text := conflictLines(out.Conflicts)
	if out.Intent != nil {
		text = "intent " + out.Intent.Ref + "\n" + text
	}
	for _, n := range out.Nearby {
		name := n.User.Name
		if n.Intent != nil {
			name = n.Intent.Ref + " (" + name + ")"
		}
		text += fmt.Sprintf("near %s %s overlaps=%v%s\n", name, strings.Join(n.Paths, ","), n.Overlaps, statusText(n.StatusText))
	}
	for _, c := range out.CrossRepoChanges {
		text += fmt.Sprintf("change of %s in %s: %s, %s\n", c.Contract, c.Repo.FullName, c.Change, c.Compatibility)
	}
	return text
}

func (s *story) effective(args []string, kv map[string]string) (out string) {
	var p wire.Policies
	if failed := s.call(s.agent(args[0]), "GET", "/v1/policies"+query(kv), nil, &p, nil); failed != "" {
		return failed
	}
	for _, k := range slices.Sorted(maps.Keys(p.Effective.Severity)) {
		out += fmt.Sprintf("%s %s\n", k, p.Effective.Severity[k])
	}
	return out
}

func (s *story) verdicts(args []string, kv map[string]string) (out string) {
	var p wire.Policies
	if failed := s.call(s.agent(args[0]), "GET", "/v1/policies"+query(kv), nil, &p, nil); failed != "" {
		return failed
	}
	for _, f := range p.Feedback {
		out += fmt.Sprintf("%s useful=%d false_positive=%d too_late=%d demoted=%v\n", f.Kind, f.Useful, f.FalsePositive, f.TooLate, f.Demoted)
	}
	return out
}

// feed shows events of a type with the names of what they mention.
func (s *story) feed(args []string, _ map[string]string) (out string) {
	var page wire.Feed
	if failed := s.call(s.owner(), "GET", "/v1/feed?type="+args[0], nil, &page, nil); failed != "" {
		return failed
	}
	slices.Reverse(page.Items)
	for _, e := range page.Items {
		out += string(e.Type)
		for _, k := range slices.Sorted(maps.Keys(e.Payload)) {
			if id, ok := e.Payload[k].(string); ok && page.Refs[id].Label != "" {
				out += " " + k + "=" + page.Refs[id].Label
			}
		}
		out += "\n"
	}
	return out
}

func (s *story) events(args []string, _ map[string]string) (out string) {
	var page wire.Page[coord.Event]
	if failed := s.call(s.owner(), "GET", "/v1/events?type="+args[0], nil, &page, nil); failed != "" {
		return failed
	}
	slices.Reverse(page.Items)
	for _, e := range page.Items {
		out += fmt.Sprintf("%s %v\n", e.Type, e.Payload["ref"])
	}
	return out
}
