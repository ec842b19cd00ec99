package host

import (
	"bytes"
	"encoding/json"
	"slices"
)

// An Answer is what the service has to say about a call.
type Answer struct {
	Block   bool
	Reason  string // of a block
	Context string // for the model
}

// Render returns what to leave for the host, and the context that it cannot
// show at this moment, which is to be delivered later.
func (c *Call) Render(a Answer) (out Output, later string) {
	h := c.Host
	switch {
	case a.Block && c.At == BeforeTool:
		reason := a.Reason
		if reason == "" {
			reason = "svc: a teammate holds these files" // an empty reason would be read as no decision
		}
		if h.denyCarries {
			return h.deny(c, reason, a.Context), ""
		}
		return h.deny(c, reason, ""), a.Context
	case a.Context != "" && h.TakesAt(c.At):
		return h.inject(c, a.Context), ""
	}
	return c.Quiet(), a.Context
}

// Quiet returns what the host must be left when there is nothing to say, which
// for nearly all is nothing. It serves failures too.
func (c *Call) Quiet() Output {
	if c.Host.quiet == nil {
		return Output{}
	}
	return c.Host.quiet(c)
}

// noticing are the hosts that show a person a line of ours, and tell the model
// nothing of it.
var noticing = []string{"claude_code", "codex", "gemini_cli"}

// Notice returns how to show a person a line, and whether the host can.
func (c *Call) Notice(line string) (Output, bool) {
	if !slices.Contains(noticing, c.Host.ID) || c.Host != c.Declared || c.At == SessionEnd {
		return Output{}, false
	}
	return printJSON(map[string]string{"systemMessage": line}), true
}

// With adds what another output shows. Hosts that show a person a line take both
// in one object.
func (o Output) With(other Output) Output {
	var both map[string]json.RawMessage
	if o.Stdout == "" {
		return other
	}
	if json.Unmarshal([]byte(o.Stdout), &both) != nil || json.Unmarshal([]byte(other.Stdout), &both) != nil {
		return o
	}
	out := printJSON(both)
	out.Stderr, out.Exit = o.Stderr, o.Exit
	return out
}

// Unread is a call of which nothing is known but its event.
func Unread(h *Host, event string) *Call {
	return &Call{Host: h, Declared: h, Native: event, At: h.Events[event].At}
}

// QuietFor is Quiet for a call that could not even be read.
func QuietFor(h *Host, event string) Output {
	return Unread(h, event).Quiet()
}

// printJSON returns v on standard output.
func printJSON(v any) Output {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // models read this; \u003c would cost them tokens
	if err := enc.Encode(v); err != nil {
		return Output{}
	}
	return Output{Stdout: b.String()}
}

// The envelope of the first host, which many others share.
type envelope struct {
	Specific specific `json:"hookSpecificOutput"`
}

type specific struct {
	Event    string `json:"hookEventName"`
	Decision string `json:"permissionDecision,omitempty"`
	Reason   string `json:"permissionDecisionReason,omitempty"`
	Context  string `json:"additionalContext,omitempty"`
}

// envelopeName is the event name the envelope must carry. A host that finds
// another name than it expects drops the whole answer.
func envelopeName(at Moment) string {
	switch at {
	case SessionStart:
		return "SessionStart"
	case Prompt:
		return "UserPromptSubmit"
	case BeforeTool:
		return "PreToolUse"
	case AfterTool:
		return "PostToolUse"
	}
	return ""
}

func denyEnvelope(_ *Call, reason, context string) Output {
	return printJSON(envelope{specific{"PreToolUse", "deny", reason, context}})
}

func injectEnvelope(c *Call, context string) Output {
	return printJSON(envelope{specific{Event: envelopeName(c.At), Context: context}})
}

// injectNamed is injectEnvelope for hosts with event names of their own.
func injectNamed(c *Call, context string) Output {
	return printJSON(envelope{specific{Event: c.Native, Context: context}})
}

// flat is the answer of hosts that read the decision at the top level.
type flat struct {
	Decision string `json:"permissionDecision,omitempty"`
	Reason   string `json:"permissionDecisionReason,omitempty"`
	Context  string `json:"additionalContext,omitempty"`
}

func denyFlat(_ *Call, reason, _ string) Output {
	return printJSON(flat{Decision: "deny", Reason: reason})
}

func injectFlat(_ *Call, context string) Output { return printJSON(flat{Context: context}) }

type cursorAnswer struct {
	Permission   string `json:"permission,omitempty"`
	UserMessage  string `json:"user_message,omitempty"`
	AgentMessage string `json:"agent_message,omitempty"`
	Context      string `json:"additional_context,omitempty"`
}

func denyCursor(_ *Call, reason, _ string) Output {
	return printJSON(cursorAnswer{Permission: "deny", UserMessage: reason, AgentMessage: reason})
}

func injectCursor(_ *Call, context string) Output {
	return printJSON(cursorAnswer{Context: context})
}

// decision is the answer of hosts with a plain decision and reason.
type decision struct {
	Decision string `json:"decision,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Context  string `json:"context,omitempty"`
}

// denyWord returns a denial in the word the host wants for it.
func denyWord(word string) func(*Call, string, string) Output {
	return func(_ *Call, reason, context string) Output {
		return printJSON(decision{word, reason, context})
	}
}

// injectContext leaves the decision out: an explicit allow would skip the
// user's own permission prompt.
func injectContext(_ *Call, context string) Output { return printJSON(decision{Context: context}) }

// denyExit blocks by exit code, with the reason where the host looks for it.
func denyExit(_ *Call, reason, _ string) Output {
	return Output{Stderr: reason + "\n", Exit: 2}
}

func injectPlain(_ *Call, context string) Output { return Output{Stdout: context + "\n"} }

// quietAntigravity answers every call: this host asks the user whenever a
// decision is missing. Its allow does not skip the host's own prompts.
func quietAntigravity(c *Call) Output {
	if c.At == BeforeTool {
		return printJSON(decision{Decision: "allow"})
	}
	return Output{Stdout: "{}\n"}
}

func injectAntigravity(_ *Call, context string) Output {
	type step struct {
		Message string `json:"ephemeralMessage"`
	}
	return printJSON(struct {
		Steps []step `json:"injectSteps"`
	}{[]step{{context}}})
}

// pluginAnswer is what our own plugins read; each does what its host wants.
type pluginAnswer struct {
	Block   bool   `json:"block,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Context string `json:"context,omitempty"`
}

func denyPlugin(_ *Call, reason, _ string) Output {
	return printJSON(pluginAnswer{Block: true, Reason: reason})
}

func injectPlugin(_ *Call, context string) Output { return printJSON(pluginAnswer{Context: context}) }

// clineFile is the answer of Cline's executable hooks. Its cancel ends the
// whole run, which is why the plugin is the better way.
type clineFile struct {
	Cancel  bool   `json:"cancel"`
	Error   string `json:"errorMessage,omitempty"`
	Context string `json:"contextModification,omitempty"`
}

func denyCline(c *Call, reason, _ string) Output {
	if c.viaFile {
		return printJSON(clineFile{Cancel: true, Error: reason})
	}
	return denyPlugin(c, reason, "")
}

func injectCline(c *Call, context string) Output {
	if c.viaFile {
		return printJSON(clineFile{Context: context})
	}
	return injectPlugin(c, context)
}
