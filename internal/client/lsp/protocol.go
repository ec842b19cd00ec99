package lsp

// The part of the Language Server Protocol that is spoken here.

type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

// linesOf is a range of whole lines, from 1, as the protocol counts.
func linesOf(start, count int) span {
	return span{position{Line: max(start-1, 0)}, position{Line: max(start-1, 0) + max(count, 1)}}
}

type documentID struct {
	URI     string `json:"uri"`
	Version int    `json:"version,omitempty"`
}

type didOpen struct {
	TextDocument struct {
		documentID
		Text string `json:"text"`
	} `json:"textDocument"`
}

type contentChange struct {
	Range *span  `json:"range"`
	Text  string `json:"text"`
}

type didChange struct {
	TextDocument   documentID      `json:"textDocument"`
	ContentChanges []contentChange `json:"contentChanges"`
}

// at is where a question is asked.
type at struct {
	TextDocument documentID `json:"textDocument"`
	Position     position   `json:"position"`
	Range        *span      `json:"range"`
}

// Severities of diagnostics.
const (
	severityWarning = 2
	severityInfo    = 3
	severityHint    = 4
)

type diagnostic struct {
	Range    span   `json:"range"`
	Severity int    `json:"severity"`
	Source   string `json:"source"`
	Message  string `json:"message"`
}

type command struct {
	Title     string `json:"title"`
	Command   string `json:"command"`
	Arguments []any  `json:"arguments,omitempty"`
}

type codeLens struct {
	Range   span    `json:"range"`
	Command command `json:"command"`
}

type codeAction struct {
	Title   string  `json:"title"`
	Kind    string  `json:"kind"`
	Command command `json:"command"`
}

type inlayHint struct {
	Position    position `json:"position"`
	Label       string   `json:"label"`
	PaddingLeft bool     `json:"paddingLeft"`
	Tooltip     string   `json:"tooltip,omitempty"`
}

type hover struct {
	Contents struct {
		Kind  string `json:"kind"`
		Value string `json:"value"`
	} `json:"contents"`
	Range span `json:"range"`
}

type initializeParams struct {
	Options      *Settings `json:"initializationOptions"`
	Capabilities struct {
		Workspace struct {
			CodeLens  struct{ RefreshSupport bool } `json:"codeLens"`
			InlayHint struct{ RefreshSupport bool } `json:"inlayHint"`
		} `json:"workspace"`
		Window struct {
			ShowDocument struct{ Support bool } `json:"showDocument"`
		} `json:"window"`
	} `json:"capabilities"`
}

// Settings say what is shown and told; what is not set keeps its default.
type Settings struct {
	Diagnostics *bool `json:"diagnostics"` // others' work at its lines
	Own         *bool `json:"own"`         // that of one's own agents as well
	CodeLens    *bool `json:"codeLens"`
	Hover       *bool `json:"hover"`
	InlayHints  *bool `json:"inlayHints"`
	Presence    *bool `json:"presence"` // others are told what the person types
	Attention   *bool `json:"attention"`
}

func on(setting *bool, otherwise bool) bool {
	if setting == nil {
		return otherwise
	}
	return *setting
}

// take takes over what is set.
func (s *Settings) take(o Settings) {
	for _, p := range [][2]**bool{{&s.Diagnostics, &o.Diagnostics}, {&s.Own, &o.Own}, {&s.CodeLens, &o.CodeLens}, {&s.Hover, &o.Hover},
		{&s.InlayHints, &o.InlayHints}, {&s.Presence, &o.Presence}, {&s.Attention, &o.Attention}} {
		if *p[1] != nil {
			*p[0] = *p[1]
		}
	}
}

// capabilities are what this server does.
func capabilities() any {
	return map[string]any{
		"capabilities": map[string]any{
			"positionEncoding": "utf-16",
			"textDocumentSync": map[string]any{"openClose": true, "change": 2, "save": map[string]any{"includeText": false}},
			"hoverProvider":    true, "codeLensProvider": map[string]any{}, "inlayHintProvider": true,
			"codeActionProvider":     map[string]any{"codeActionKinds": []string{"quickfix"}},
			"executeCommandProvider": map[string]any{"commands": commandNames()},
		},
		"serverInfo": map[string]any{"name": "svc"},
	}
}
