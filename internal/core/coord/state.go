package coord

import (
	"strings"
	"time"
	"unicode"
)

// An AgentState is what an agent is doing, as its team would say it.
type AgentState string

const (
	AgentBlocked  AgentState = "blocked"          // its edits are refused
	AgentAsks     AgentState = "waits_for_person" // it asked its person something, or for leave to go on
	AgentCollides AgentState = "collides"         // its work and somebody else's hurt each other
	AgentWaits    AgentState = "waits_for_other"  // for other work to end
	AgentSilent   AgentState = "silent"           // its hooks stopped in the middle of a turn
	AgentWorking  AgentState = "working"
	AgentStopped  AgentState = "stopped" // its turn is over and it asked nothing
	AgentGone     AgentState = "gone"    // its session is over
)

// AgentStates lists every state, the one that most wants a person first.
func AgentStates() []AgentState {
	return []AgentState{AgentBlocked, AgentAsks, AgentCollides, AgentWaits, AgentSilent, AgentWorking, AgentStopped, AgentGone}
}

// Enum lists the values for validation and the API document.
func (AgentState) Enum() []string { return enum(AgentStates()) }

// A Snag is one reason why an agent does not simply work: a live conflict that
// its work is in, or other work that it waits for.
type Snag struct {
	Ref      string   // of the conflict, or of the intent that is waited for; empty if there is none
	Severity Severity // of a conflict; empty for a wait
	Holds    bool     // its own side was there first
	Since    Time
}

// A Standing is an agent's state, since when, and the conflict or intent behind
// it.
type Standing struct {
	State AgentState `json:"state" doc:"What the agent is doing: blocked (its edits are refused), waits_for_person (it ended its turn with a question, or asks for permission; status_text has its last words), collides, waits_for_other, silent (its hooks stopped in the middle of a turn), working, stopped (its turn is over), gone (its session is over)"`
	Since Time       `json:"state_since"`
	Ref   *string    `json:"state_ref" doc:"The conflict or intent behind the state"`
}

// SilentGap is how long after its last hook an agent that calls tools is taken
// for one whose hooks stopped.
const SilentGap = time.Hour

// StandingOf returns what a session's agent is doing. It is the one place that
// decides so: lists, pages, the terminal and the API show what it returns. The
// session's status must be the one of now.
//
// A question to its person comes before what it is about: nobody else can end
// it. The conflict behind it is named all the same.
func StandingOf(s Session, snags []Snag) Standing {
	worst, wait := worstOf(snags)
	behind := func(state AgentState, since Time) Standing {
		out := Standing{State: state, Since: since}
		for _, s := range []*Snag{worst, wait} {
			if out.Ref == nil && s != nil && s.Ref != "" {
				out.Ref = &s.Ref
			}
		}
		return out
	}
	switch {
	case s.Status == SessionEnded && s.EndedAt != nil:
		return Standing{State: AgentGone, Since: *s.EndedAt}
	case s.Status == SessionEnded || s.Status == SessionExpired:
		return Standing{State: AgentGone, Since: s.LastHeartbeatAt}
	case s.AskedAt != nil:
		return behind(AgentAsks, *s.AskedAt)
	case worst != nil && worst.Severity == SeverityBlock && !worst.Holds:
		return behind(AgentBlocked, worst.Since)
	case worst != nil:
		return behind(AgentCollides, worst.Since)
	case wait != nil:
		return behind(AgentWaits, wait.Since)
	case s.StoppedAt != nil:
		return Standing{State: AgentStopped, Since: *s.StoppedAt}
	case s.Status == SessionIdle || s.LastToolAt != nil && s.LastToolAt.Sub(s.LastHeartbeatAt) > SilentGap:
		return Standing{State: AgentSilent, Since: s.LastHeartbeatAt}
	}
	return Standing{State: AgentWorking, Since: s.LastHeartbeatAt}
}

// worstOf returns the conflict that matters most and the first wait. Being
// refused is worse than being in somebody's way; of two alike, the newer counts.
// What is for information only matters to nobody.
func worstOf(snags []Snag) (worst, wait *Snag) {
	weight := func(s *Snag) int {
		w := 2 * s.Severity.Rank()
		if s.Severity == SeverityBlock && s.Holds {
			w--
		}
		return w
	}
	for i := range snags {
		s := &snags[i]
		switch {
		case s.Severity == "":
			if wait == nil {
				wait = s
			}
		case s.Severity.Rank() < SeverityWarn.Rank():
		case worst == nil, weight(s) > weight(worst), weight(s) == weight(worst) && s.Since > worst.Since:
			worst = s
		}
	}
	return worst, wait
}

// questionMarks end a question: in Latin and Cyrillic, in Arabic, in full width,
// in Greek, in Armenian and in Ethiopic.
const questionMarks = "?؟？;՞፧"

// AsksPerson reports whether what an agent said last, as its turn ended, wants an
// answer: its last paragraph that is no list ends with a question. A question
// further up that the agent went on to answer itself does not.
func AsksPerson(said string) bool {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		line := strings.TrimSpace(lines[i])
		if line == "" || isItem(line) { // the choices come after the question
			continue
		}
		line = strings.TrimRightFunc(line, func(r rune) bool {
			return unicode.IsSpace(r) || strings.ContainsRune("*_`\"')]}»”’」』:", r)
		})
		return line != "" && strings.ContainsRune(questionMarks, lastRune(line)) && !isCode(lines[:i+1])
	}
	return false
}

// isItem reports whether a line is one of a list: "- a", "* b", "1. c", "b) d".
func isItem(line string) bool {
	mark, _, ok := strings.Cut(line, " ")
	if !ok {
		return false
	}
	if mark == "-" || mark == "*" || mark == "+" || mark == "•" {
		return true
	}
	head := strings.TrimRight(mark, ".)")
	return head != mark && len(head) > 0 && len(head) <= 2
}

// isCode reports whether the last of some lines is inside a fence.
func isCode(lines []string) bool {
	fences := 0
	for _, l := range lines {
		if strings.HasPrefix(strings.TrimSpace(l), "```") {
			fences++
		}
	}
	return fences%2 == 1
}

func lastRune(s string) (last rune) {
	for _, r := range s {
		last = r
	}
	return last
}
