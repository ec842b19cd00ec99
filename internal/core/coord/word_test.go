package coord

import "testing"

func TestWhoseWordEndsWhat(t *testing.T) {
	for _, kind := range ConflictKinds() {
		for _, severity := range severities {
			for _, status := range ConflictStatuses() {
				for _, action := range ConflictActions() {
					for _, side := range []PartyRole{Holder, Challenger, ""} {
						c := Conflict{Kind: kind, Severity: severity, Status: status}
						got, refused := c.Effect(action, side)
						_, possible := status.After(action)
						if (refused == NotPossible) == possible {
							t.Errorf("%s %s %s: %s by %q: refused %v", kind, severity, status, action, side, refused)
						}
						if refused != Granted || got.Status.Live() {
							continue
						}
						lifts := *got.Resolution != ResolvedWithdrawn
						keepsOut := kind == ExclusiveClaim || severity == SeverityBlock
						if lifts && keepsOut && side != Holder {
							t.Errorf("%s %s: %s by %q ends it as %s", kind, severity, action, side, *got.Resolution)
						}
						if !lifts && (!keepsOut || side != Challenger) {
							t.Errorf("%s %s: %s by %q withdraws nothing", kind, severity, action, side)
						}
					}
				}
			}
		}
	}
}

func TestSideOf(t *testing.T) {
	ana, bob := Stake{"INT-1", "ana"}, Stake{"INT-2", "bob"}
	own := Stake{"INT-3", "ana"}
	for _, c := range []struct {
		name               string
		holder, challenger Stake
		who                Stake
		person             bool
		want               PartyRole
	}{
		{"the holder's agent", ana, bob, ana, false, Holder},
		{"another agent of the holder's person", ana, bob, Stake{"INT-9", "ana"}, false, Holder},
		{"the agent that is kept out", ana, bob, bob, false, Challenger},
		{"its person", ana, bob, Stake{"", "bob"}, true, Challenger},
		{"somebody else", ana, bob, Stake{"INT-9", "cy"}, true, ""},
		{"nobody", ana, Stake{"", ""}, Stake{}, true, ""},
		{"one person's holder", ana, own, ana, false, Holder},
		{"one person's other agent", ana, own, own, false, Challenger},
		{"an agent that does not say which", ana, own, Stake{"", "ana"}, false, Challenger},
		{"the person behind both", ana, own, Stake{"", "ana"}, true, Holder},
	} {
		if got := SideOf(c.holder, c.challenger, c.who, c.person); got != c.want {
			t.Errorf("%s speaks for %q, want %q", c.name, got, c.want)
		}
	}
}

func TestIsPerson(t *testing.T) {
	some := []Scope{ScopeConflictsWrite}
	for _, c := range []struct {
		name string
		who  Caller
		want bool
	}{
		{"dashboard", Caller{UserID: "u", Via: ViaCookie}, true},
		{"dashboard under a session's name", Caller{UserID: "u", Via: ViaCookie, SessionID: "s"}, false},
		{"a token of one's own", Caller{UserID: "u", Via: ViaToken, Scopes: some}, true},
		{"a token that hooks use", Caller{UserID: "u", Via: ViaToken, Scopes: append(some, ScopeHooks)}, false},
		{"a token that tools use", Caller{UserID: "u", Via: ViaToken, Scopes: append(some, ScopeTools)}, false},
		{"a token under a session's name", Caller{UserID: "u", Via: ViaToken, Scopes: some, SessionID: "s"}, false},
		{"a token that an agent made", Caller{UserID: "u", Via: ViaToken, Scopes: some, ByAgent: true}, false},
		{"a tool", Caller{UserID: "u", Via: ViaTool, Scopes: some}, false},
		{"a service", Caller{Via: ViaToken, Scopes: some}, false},
	} {
		if got := c.who.IsPerson(); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
