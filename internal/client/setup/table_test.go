package setup

import "testing"

// What a row leaves out is missed only when a host stays silent, so it must
// fail here. That the files work together is tested through Plan and Status.
func TestNoFieldOfARowIsEmpty(t *testing.T) {
	for _, h := range Hosts() {
		if h.ID == "" || h.Title == "" || h.Note == "" || len(h.binaries) == 0 || len(h.homes) == 0 || len(h.marks) == 0 ||
			len(h.instructions) == 0 {
			t.Errorf("%s: a field is empty", h.ID)
		}
		hooks, server := false, false
		for i := range h.files {
			f := &h.files[i]
			hooks, server = hooks || f.hasHooks(), server || f.hasServer()
			if len(f.paths) == 0 {
				t.Errorf("%s: a file without a path", h.ID)
			}
			if f.hooks == nil {
				continue
			}
			for _, e := range f.hooks.events {
				if e.name == "" || e.seconds != short && e.seconds != long && e.seconds != 3 {
					t.Errorf("%s: event %+v", h.ID, e)
				}
			}
		}
		if !hooks || !server {
			t.Errorf("%s: hooks %v, tool server %v; every host has both", h.ID, hooks, server)
		}
	}
}

// The interface fixes these.
func TestMatchersAndTimeoutsOfTheInterface(t *testing.T) {
	want := map[string]map[string]hookEvent{
		"claude_code": {
			"PreToolUse":       {"PreToolUse", "Edit|Write|MultiEdit|NotebookEdit|Bash|ExitPlanMode", 5},
			"PostToolUse":      {"PostToolUse", "Edit|Write|MultiEdit|NotebookEdit|Bash", 10},
			"Stop":             {"Stop", "", 10},
			"SessionEnd":       {"SessionEnd", "", 10},
			"SessionStart":     {"SessionStart", "", 5},
			"UserPromptSubmit": {"UserPromptSubmit", "", 5},
		},
		"codex": {
			"PreToolUse":  {"PreToolUse", "apply_patch|Edit|Write|Bash", 5},
			"PostToolUse": {"PostToolUse", "apply_patch|Edit|Write|Bash", 10},
			"SessionEnd":  {"SessionEnd", "", 3},
		},
	}
	for id, events := range want {
		h, _ := ByID(id)
		got := map[string]hookEvent{}
		for _, e := range h.files[0].hooks.events {
			if _, more := got[e.name]; !more {
				got[e.name] = e
			}
		}
		for name, e := range events {
			if got[name] != e {
				t.Errorf("%s %s = %+v, want %+v", id, name, got[name], e)
			}
		}
	}
}
