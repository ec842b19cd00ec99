package host

import (
	"fmt"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/patch"
	"github.com/svc-hq/svc/internal/core/wire"
)

// A Call is one run of the hook in our own words, whatever host made it.
type Call struct {
	Host     *Host          // the host that really runs
	Declared *Host          // the host whose configuration named us
	Native   string         // the host's own name of the event
	At       Moment         // "" for events that do not concern us
	Event    wire.HookEvent // what to send; "" for nothing

	Session string
	Parent  string // session that started this one, if any
	Cwd     string
	Roots   []string
	Model   string
	Version string // of the host
	Surface string

	Tool    string // in our names; "" when none or none of ours
	CallID  string
	Turn    string
	Stamp   string
	Paths   []string  // files an edit names, as the host wrote them
	Reads   []Reading // files that a tool is about to show the model
	Command string    // of a shell tool
	Folder  string    // where the command runs, if not in Cwd
	Failed  bool      // the tool failed

	Prompt   string
	Plan     string
	PlanFile string // where the plan is, if not in the payload
	Task     *Task  // of the host's own team, that is there or done
	Team     string // of which an agent is idle
	Said     string // last assistant message
	Record   string // file that holds the conversation

	input   any  // of an edit tool, for Pending
	viaFile bool // Cline's executable hooks rather than its plugin
}

// Parse reads what a host wrote for event to the hook that was set up as
// declared, and finds out which host it really is.
func Parse(declared *Host, event string, data []byte, getenv func(string) string) (*Call, error) {
	p, err := parsePayload(data)
	if err != nil {
		return nil, fmt.Errorf("read the payload of %s: %w", declared.ID, err)
	}
	h := detect(declared, p, getenv)
	c := &Call{Host: h, Declared: declared, Surface: h.Surface}
	c.read(p, event)
	if h.VersionEnv != "" && c.Version == "" {
		c.Version = getenv(h.VersionEnv)
	}
	if h.adjust != nil {
		h.adjust(c, p, getenv)
	}
	c.Event = c.wireEvent()
	return c, nil
}

// detect returns the host that really runs: some run hooks that were set up
// for another.
func detect(declared *Host, p payload, getenv func(string) string) *Host {
	for _, id := range declared.AlsoReadBy {
		if r := rowOf(id); r != nil && r.betrays != nil && r.betrays(p, getenv) {
			return r.get()
		}
	}
	return declared
}

// read fills c from the payload as the host's shape says.
func (c *Call) read(p payload, event string) {
	s := &c.Host.shape
	// The payload knows best, except where it names events in words of its own.
	c.Native = p.text(s.event)
	e, ok := c.Host.Events[c.Native]
	if !ok {
		if e, ok = c.Host.Events[event]; ok || c.Native == "" {
			c.Native = event
		}
	}
	c.At = e.At
	c.Session = p.text(s.session)
	c.Parent = p.text(s.parent)
	if agent := p.text(s.agent); agent != "" && c.Session != "" && c.Parent == "" {
		c.Parent, c.Session = c.Session, c.Session+"/"+agent
	}
	c.Cwd = p.text(s.cwd)
	for _, path := range s.roots {
		c.Roots = appendNew(c.Roots, texts(p.at(path))...)
	}
	if c.Cwd == "" && len(c.Roots) > 0 {
		c.Cwd = c.Roots[0]
	}
	c.Model = p.text(s.model)
	c.Version = p.text(s.version)
	c.Turn = p.text(s.turn)
	c.Stamp = scalar(p.first(s.stamp))
	c.Prompt = p.text(s.prompt)
	c.Said = p.text(s.said)
	c.Record = p.text(s.record)
	c.Failed = c.At == AfterFailure || truthy(p.first(s.failed))
	switch c.At {
	case BeforeTool, AfterTool, AfterFailure:
		c.readTool(p, e)
	case Asks:
		c.readAsks(p)
	}
}

// readAsks reads what a person is asked, in the host's words. Of what the tool would do nothing is told.
func (c *Call) readAsks(p payload) {
	if s := &c.Host.shape; slices.Contains(c.Host.asking, p.text(s.kind)) {
		c.Said = p.text(s.message)
	} else {
		c.At = "" // another kind of notification
	}
}

func (c *Call) readTool(p payload, e Event) {
	s := &c.Host.shape
	c.CallID = p.text(s.call)
	input := p.first(s.input)
	c.Tool = e.Tool
	if c.Tool == "" {
		name := strings.ToLower(p.text(s.tool))
		if c.Tool = toolNamed(name); c.Tool == "" && c.Host.isForeign(name) {
			c.Tool = Foreign
		}
	}
	switch {
	case isEdit(c.Tool):
		c.Paths = editPaths(input)
		if c.At == BeforeTool {
			c.input = input
		}
		for _, path := range s.touched {
			c.Paths = appendNew(c.Paths, changedFiles(p.at(path))...)
		}
	case isShell(c.Tool):
		c.Command = commandOf(input)
		if in, ok := input.(map[string]any); ok {
			c.Folder = payload(in).text(folderKeys)
		}
		if strings.Contains(c.Command, patch.Begin) {
			c.Paths = patch.Envelope(c.Command)
		}
	case c.Tool == Read && c.At == BeforeTool:
		c.Reads = readings(input)
	case c.Tool == ExitPlanMode:
		if in, ok := input.(map[string]any); ok {
			c.Plan = payload(in).text(planKeys)
			c.PlanFile = payload(in).text([]string{"plan_path", "planFilePath"})
		}
	}
}

// wireEvent maps the moment and the tool to an event of the service.
func (c *Call) wireEvent() wire.HookEvent {
	switch c.At {
	case SessionStart:
		return wire.HookSessionStart
	case Prompt:
		return wire.HookPrompt
	case Stop, Asks:
		return wire.HookStop
	case SessionEnd:
		return wire.HookSessionEnd
	case BeforeTool:
		switch {
		case isEdit(c.Tool), isShell(c.Tool) && len(c.Paths) > 0:
			return wire.HookPreEdit
		case isShell(c.Tool):
			return wire.HookPreShell
		case c.Tool == ExitPlanMode:
			return wire.HookPlan
		}
	case TaskMade, TaskDone:
		if c.Task != nil {
			return wire.HookPlan
		}
	case AfterTool, AfterFailure:
		// A command that failed may have written before it did; an edit has not.
		if isShell(c.Tool) || c.Tool == Foreign || isEdit(c.Tool) && !c.Failed {
			return wire.HookPostEdit
		}
	}
	return ""
}

// Changes returns what an edit is about to do, as far as it tells.
func (c *Call) Changes() []Change {
	if c.input == nil {
		return nil
	}
	return changesOf(c.Tool, c.input)
}

// IsShell reports whether the call is about a command.
func (c *Call) IsShell() bool { return isShell(c.Tool) }

// changedFiles returns the files in a list of names or of objects with a path.
func changedFiles(v any) []string {
	list, ok := v.([]any)
	if !ok {
		return texts(v)
	}
	out := texts(v)
	for _, e := range list {
		if m, ok := e.(map[string]any); ok {
			out = append(out, payload(m).text([]string{"path", "file_path", "filePath"}))
		}
	}
	return out
}

func scalar(v any) string {
	switch t := v.(type) {
	case string:
		return t
	case float64:
		return fmt.Sprintf("%.0f", t)
	}
	return ""
}

func truthy(v any) bool {
	switch t := v.(type) {
	case bool:
		return t
	case string:
		return t != "" && t != "success"
	case map[string]any:
		return len(t) > 0
	}
	return false
}
