//go:build unix

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/client/cli"
	"github.com/svc-hq/svc/internal/client/cli/term"
)

// A helpPage is a command's help, read as a person would.
type helpPage struct {
	path     []string
	examples []string
	subs     []string
}

func readHelp(t *testing.T, path []string) helpPage {
	t.Helper()
	code, out := within(t, append(slices.Clone(path), "--help")...)
	if code != 0 {
		t.Fatalf("svc %s --help: exit %d", strings.Join(path, " "), code)
	}
	p := helpPage{path: path}
	head := ""
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n")
		switch text := strings.TrimSpace(line); {
		case !strings.HasPrefix(line, " "):
			head = text
		case text == "":
		case head == "Examples:":
			p.examples = append(p.examples, text)
		case strings.HasSuffix(head, ":") && head != "Usage:" && !strings.HasSuffix(head, "lags:"):
			p.subs = append(p.subs, strings.Fields(text)[0])
		}
	}
	return p
}

func allPages(t *testing.T) []helpPage {
	pages := []helpPage{readHelp(t, nil)}
	for i := 0; i < len(pages); i++ {
		for _, sub := range pages[i].subs {
			pages = append(pages, readHelp(t, append(slices.Clone(pages[i].path), sub)))
		}
	}
	return pages
}

// elsewhere are commands whose examples cannot run here, with the test that
// plays them.
var elsewhere = map[string]string{
	"lease":  "TestCLIStories, lease.txtar: what it runs, npm and make, needs a project that has it",
	"update": "TestUpdateOfARealBinary: it needs releases that are signed, and replaces the program that runs it",
}

// unspoken print for programs that are not ours to choose the form of.
var unspoken = []string{"completion", "man", "help", "hook", "auth-header", "lsp", "mcp"}

// A play is what a command's examples need besides a bench.
type play struct {
	before func(*testing.T, *bench)                        // what happened before
	during func(*testing.T, *bench, func() string, func()) // while it runs: what it said so far, and how to interrupt it
	code   int                                             // how it ends, if not well
	shows  string                                          // what it prints, a pattern
	alone  bool                                            // on a bench of its own: what one ends, another wants alive
}

// plays are found by the longest beginning of an example.
var plays = map[string]play{
	"svc conflicts list":             {shows: `CF-3 +block`},
	"svc conflicts --mine":           {shows: `CF-3 +block +part3/a\.go +Olga Oak / Bob Birch`},
	"svc conflicts show":             {shows: `CF-3 block exclusive_claim`},
	"svc conflicts ack":              {shows: `^CF-3: you have seen it\. It is acknowledged\.`},
	"svc conflicts resolve":          {shows: `^CF-3: you call it settled\. It is resolved\.`},
	"svc conflicts propose":          {shows: `^CF-3: you made a proposal\. It is resolving\.`},
	"svc conflicts rebase":           {shows: `^CF-3: you will rebase\.`},
	"svc conflicts request-override": {before: asBob, shows: `^CF-3: an override is asked for\.`},
	"svc conflicts false-alarm":      {shows: `^CF-3: you call it a false alarm\. It is resolved\.`},
	"svc conflicts feedback":         {shows: `^Thank you\.`},
	"svc conflicts override":         {shows: `/conflicts/CF-3$`},
	"svc attention":                  {shows: `question +.*svc answer [0-9a-f-]{13} TEXT`},
	"svc attention dismiss":          {shows: `^Dismissed (until it changes|\d things until they change)\.`},
	"svc attention mute":             {shows: `^(Muted\.|You are asked about it again\.)`},
	"svc intents":                    {shows: `INT-7`},
	"svc intents declare":            {shows: `^Declared INT-10 (Rework login|Fix parser) \(active, (shared|exclusive)\)\.`},
	"svc intents update":             {shows: `^Updated INT-7`},
	"svc intents close INT-7":        {shows: `^INT-7 is merged\.`},
	"svc intents close 6":            {shows: `^INT-6 is abandoned\.`},
	"svc intents adopt":              {shows: `^Adopted INT-7`},
	"svc handoff":                    {before: onlyTheSeventh, shows: `^INT-7 now belongs to Bob Birch\.`},
	"svc messages --unread":          {shows: `Freezing main at noon`},
	"svc messages show @bob":         {shows: `Freezing main at noon`},
	"svc messages show '#team'":      {shows: `^#team, 1 message\n(.|\n)*Hello, all`},
	"svc messages show CF-3":         {shows: `When is the token refresh of the login in\?`},
	"svc messages threads":           {shows: `#team`},
	"svc messages send @bob":         {shows: `^Sent to bob@example\.com\.`},
	"svc messages send '#team'":      {shows: `^Sent to #team\.`},
	"svc messages ack":               {shows: `^Acknowledged\.`},
	"svc ask @bob":                   {shows: `^Asked bob@example\.com `},
	"svc ask 'GET":                   {shows: `What is known now:`},
	"svc answer":                     {shows: `^Answered\.`},
	"svc wait auth/login.go":         {shows: `^auth/login\.go is free\.\nmake deploy`},
	"svc wait INT-7":                 {during: closing, shows: `^INT-7 is free\.`},
	"svc wait CF-3":                  {before: settled, shows: `^CF-3 is free\.`},
	"svc who":                        {before: asBob, shows: `Olga Oak +.*acme/shop`},
	"svc search token refresh":       {shows: `When is the token refresh`},
	"svc search 'login'":             {shows: `messages|conflicts`},
	"svc feed":                       {shows: `conflict\.detected`},
	"svc check auth/login.go":        {shows: `free|nobody|No`},
	"svc check --against":            {before: pulled, shows: `.`},
	"svc watch":                      {during: hearing("intent.declared"), code: 130, shows: `intent\.declared +.*INT-\d+ in acme/shop`},
	"svc watch --type":               {during: hearing("conflict.detected"), code: 130, shows: `"type":"conflict\.detected"`},
	"svc watch-tree":                 {shows: `^Your own edits in `},
	"svc status --watch":             {during: hearing("intent.declared"), code: 130, shows: `Olga Oak at Acme(.|\n)*intent\.declared`},
	"svc status":                     {shows: `Olga Oak at Acme`},
	"svc top":                        {shows: `AGENTS 3`},
	"svc members":                    {shows: `ana@example\.com`},
	"svc members show":               {shows: `^Bob Birch\n(.|\n)*INT-8`},
	"svc members invite":             {shows: `^Invited cy@example\.com as member\.(.|\n)*http`},
	"svc members invites":            {before: doing("svc members invite cy@example.com"), shows: `cy@example\.com +member `},
	"svc members resend":             {before: doing("svc members invite cy@example.com"), shows: `^Invited cy@example\.com again(.|\n)*http`},
	"svc mail":                       {shows: `^The server sends mail`},
	"svc mail test":                  {shows: `^An email to olga@example\.com: sent\.`},
	"svc tokens":                     {shows: `ci +pat +valid`},
	"svc tokens show":                {shows: `^ci\n(.|\n)*May: `},
	"svc tokens create":              {shows: `^svc_`},
	"svc tokens revoke":              {shows: `^Revoked\.`},
	"svc policy get":                 {shows: `enforcement`},
	"svc policy set":                 {shows: `^Changed\.`},
	"svc policy set exclusive":       {before: ruled, shows: `^Changed\.`},
	"svc policy edit":                {before: editing, shows: `^Changed\.`},
	"EDITOR=vim svc policy edit":     {shows: `^Changed\.`},
	"svc repos":                      {shows: `acme/shop`},
	"svc repos add":                  {shows: `^acme/docs is watched\.`},
	"svc repos prefix":               {before: asHerself, shows: `^Routes of acme/api and acme/web that differ by /api/v1`},
	"svc repos rename":               {before: asHerself, shows: `^acme/shop is now acme/store\.`},
	"svc repos archive":              {before: asHerself, shows: `^acme/shop is archived`},
	"svc repos restore":              {before: archived, shows: `is watched again`},
	"svc repos merge":                {before: asHerself, shows: `^acme/shop-old is now a part of acme/shop\.`},
	"svc repos apart":                {before: asHerself, shows: `stay two`},
	"svc repos remove":               {before: asHerself, shows: `is forgotten`},
	"svc contracts":                  {shows: `GET /users/|db:public\.users`},
	"svc webhooks":                   {shows: `enabled +http://127\.0\.0\.1:\d+/hook`},
	"svc webhooks create":            {shows: `^whsec_`},
	"svc webhooks rotate":            {before: asHerself, shows: `^whsec_`},
	"svc webhooks show":              {shows: `^http://127\.0\.0\.1:\d+/hook\n`},
	"svc webhooks edit":              {shows: `^Changed\.`},
	"svc webhooks delete":            {shows: `^Deleted\.`},
	"svc webhooks test":              {shows: `^Sent\.`},
	"svc webhooks pause":             {shows: `^Paused`},
	"svc webhooks resume":            {before: doing("svc webhooks pause http://$FRONT/hook"), shows: `^It goes on`},
	"svc webhooks replay":            {shows: `^\d+ on their way again\.`},
	"svc webhooks deliveries":        {before: doing("svc webhooks test http://$FRONT/hook"), shows: `DELIVERY|delivered|pending`},
	"svc stats":                      {shows: `^The last (30|90) days: \d+ intents`},
	"svc api /v1/intents":            {shows: `^INT-`},
	"svc api POST":                   {shows: `Freezing main`},
	"svc api /v1/events":             {shows: `^conflict\.detected$`},
	"svc prompt":                     {before: worked, shows: `INT-`},
	"svc hook":                       {before: asBobAnswered, shows: `"permissionDecision":"deny"`},
	"svc index":                      {shows: `indexed \d+ files with \d+ contracts`},
	"svc index --explain":            {shows: `provides +http:GET /users/`},
	"svc analyze":                    {before: edited, shows: `src/auth\.go`},
	"svc backtest":                   {shows: `^In (the last|a day)`},
	"svc backtest mirror.git":        {shows: `^In (the last|a day)`},
	"svc backtest --swarm":           {shows: `groups of 6`},
	"svc doctor":                     {before: wellSetUp, shows: `ok +round trip|repaired`},
	"svc login --server":             {before: signedOut, during: approving, shows: `^(Open(.|\n)*)?Logged in to http.* as olga@example\.com`},
	"svc login --token":              {before: signedOut, shows: `^Logged in to http.* as bob@example\.com`},
	"svc logout":                     {before: loggedIn, shows: `ogged out|orgot`},
	"svc up":                         {before: alone, shows: `Claude Code|Codex`},
	"svc down":                       {before: upAlready, shows: `topped`},
	"svc demo":                       {before: alone, shows: `lands it`},
	"svc share":                      {before: joined, shows: `acme`},
	"svc share --stop":               {before: sharedAlready, shows: `.`},
	"svc init":                       {shows: `claude_code|\.claude|\.codex`},
	"svc whoami":                     {shows: `olga@example\.com`},
	`curl`:                           {shows: `"olga@example\.com"`},
	"svc open":                       {shows: `^http`},
	"svc version":                    {shows: `^svc `},
	`{ "mcpServers"`:                 {before: asked, shows: `"protocolVersion"`},
	"svc completion":                 {},
	"svc man --dir":                  {},
}

func asBob(_ *testing.T, b *bench) { b.env = append(b.env, "SVC_TOKEN="+b.bob) }

// asHerself is Olga with a token that no agent works with.
func asHerself(_ *testing.T, b *bench) {
	b.env = append(b.env, "SVC_TOKEN="+b.s.own("olga@example.com"))
}

func archived(t *testing.T, b *bench) {
	asHerself(t, b)
	b.must(t, "svc repos archive acme/shop")
}

func doing(line string) func(*testing.T, *bench) {
	return func(t *testing.T, b *bench) { b.must(t, strings.ReplaceAll(line, "$FRONT", b.front)) }
}

func onlyTheSeventh(_ *testing.T, b *bench) {
	for i := range 6 {
		b.s.as(b.olga, "POST", fmt.Sprintf("/v1/intents/INT-%d/close", i+1), `{"outcome":"merged"}`)
	}
}

func settled(_ *testing.T, b *bench) {
	b.s.as(b.olga, "POST", "/v1/conflicts/CF-3/actions", `{"action":"resolved"}`)
}

func closing(_ *testing.T, b *bench, _ func() string, _ func()) {
	b.s.as(b.olga, "POST", "/v1/intents/INT-7/close", `{"outcome":"merged"}`)
}

// hearing makes something happen until the command has told of it, and then
// interrupts it.
func hearing(kind string) func(*testing.T, *bench, func() string, func()) {
	return func(t *testing.T, b *bench, said func() string, interrupt func()) {
		n := 0
		await.True(t, "word of "+kind, func() bool {
			if n++; n%20 == 1 {
				b.s.as(b.bob, "POST", "/v1/intents", fmt.Sprintf(`{"repo":"acme/shop","title":"More","branch":"more%d",
					"scope":{"paths":["part4/a.go"]}}`, n))
			}
			return strings.Contains(said(), kind)
		})
		interrupt()
	}
}

func ruled(t *testing.T, b *bench) { b.must(t, "svc policy set auto_draft=false") }

func editing(_ *testing.T, b *bench) { b.env = append(b.env, "EDITOR=vim") }

func edited(t *testing.T, b *bench) {
	writeFile(t, filepath.Join(b.dir, "src/auth.go"), "package src\n\nfunc Auth(name string) {}\n")
}

// hooking is a hook until it shows something. A service that looks for races
// may take longer for its first answers than a hook waits.
func hooking(t *testing.T, b *bench, shown string) {
	await.True(t, shown+" to say something", func() bool {
		b.must(t, "svc who") // reaches the service, which ends a hook's pause
		b.must(t, "svc hook --tool claude_code --event PreToolUse < payload.json")
		_, out, _ := b.run(t, shown)
		return strings.TrimSpace(out) != ""
	})
}

func asBobAnswered(t *testing.T, b *bench) {
	asBob(t, b)
	hooking(t, b, "svc hook --tool claude_code --event PreToolUse < payload.json")
}

// worked has hooks leave the line that svc prompt prints.
func worked(t *testing.T, b *bench) { hooking(t, b, "svc prompt") }

// pulled has a pull request in the clone.
func pulled(t *testing.T, b *bench) { b.must(t, "git update-ref refs/pull/12/head HEAD") }

// wellSetUp puts a machine in the bench's place on which nothing is missing.
func wellSetUp(t *testing.T, b *bench) {
	m := newMachine(t, b.s)
	b.dir, b.env = m.dir, m.environ()
}

func signedOut(_ *testing.T, b *bench) { b.without("SVC_TOKEN") }

func loggedIn(t *testing.T, b *bench) {
	b.must(t, "svc login --token - < token.txt")
	b.without("SVC_TOKEN")
}

// approving does as the person does whom svc login sends to the dashboard.
func approving(t *testing.T, b *bench, said func() string, _ func()) {
	code := regexp.MustCompile(`Type   (\S+)`)
	await.True(t, "the code", func() bool { return code.MatchString(said()) })
	b.s.post("/v1/auth/device/approve", fmt.Sprintf(`{"user_code":%q}`, code.FindStringSubmatch(said())[1]), nil)
}

// alone is somebody who has no server.
func alone(t *testing.T, b *bench) {
	b.without("SVC_TOKEN", "SVC_SERVER", "SVC_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
	b.stdin = strings.Repeat("\n", 50)         // svc demo --slow goes on at Enter
	t.Cleanup(func() { b.run(t, "svc down") }) // the service outlives who started it
}

func upAlready(t *testing.T, b *bench) {
	alone(t, b)
	b.must(t, "svc up --yes")
}

// joined works alone and has a team as well.
func joined(t *testing.T, b *bench) {
	server := b.s.URL
	upAlready(t, b)
	b.must(t, "svc login --server "+server+" --token - < token.txt")
}

func sharedAlready(t *testing.T, b *bench) {
	joined(t, b)
	b.must(t, "svc share --yes")
}

// asked has a host begin to talk.
func asked(_ *testing.T, b *bench) {
	b.stdin = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
		`"clientInfo":{"name":"walk","version":"1"}}}` + "\n"
}

func playOf(line string) (p play) {
	longest := -1
	for start, x := range plays {
		if strings.HasPrefix(line, start) && len(start) > longest {
			p, longest = x, len(start)
		}
	}
	return p
}

// reading change nothing, so that their examples share a bench.
var reading = regexp.MustCompile(`^svc (intents|conflicts|attention|members|tokens|repos|contracts|webhooks|policy)` +
	`( list| show\b.*| get\b.*)?( --.*)?$|^svc messages (show|threads)|` +
	`^svc (status|top|who|search|feed|stats|api /|version|completion|man|help|whoami|open|mcp-headers)\b`)

// Every command has examples that run, --json that parses, completion, a man
// page, and exit codes from the table.
func TestTheCommandTree(t *testing.T) {
	if testing.Short() {
		return
	}
	pages := allPages(t)
	if len(pages) < 60 {
		t.Fatalf("only %d pages", len(pages))
	}
	shared := newBench(t)
	families := map[string][]helpPage{}
	for _, p := range pages {
		shared.look(t, p)
		if len(p.path) > 0 && elsewhere[p.path[0]] == "" { // the first page's examples are those of the others
			families[p.path[0]] = append(families[p.path[0]], p)
		}
	}
	t.Run("examples", func(t *testing.T) {
		for name, family := range families {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				for _, p := range family {
					for i, e := range p.examples {
						shared.try(t, e, i == 0)
					}
				}
			})
		}
	})
}

// look checks what every page has.
func (b *bench) look(t *testing.T, p helpPage) {
	t.Helper()
	name := strings.Join(append([]string{"svc"}, p.path...), " ")
	if len(p.examples) == 0 {
		t.Errorf("%s has no example", name)
	}
	if code, out := within(t, append([]string{"man"}, p.path...)...); code != 0 || !strings.Contains(out, ".SH EXAMPLES") ||
		!strings.Contains(out, ".SH EXIT STATUS") {
		t.Errorf("%s has no manual page: exit %d", name, code)
	}
	code, out := within(t, append(append([]string{"__complete"}, p.path...), "")...)
	if code != 0 || !strings.Contains(out, "\n:") && !strings.HasPrefix(out, ":") {
		t.Errorf("%s does not complete: exit %d: %s", name, code, out)
	}
	if code, _ := within(t, append(slices.Clone(p.path), "--no-such-flag")...); code != term.ExitUsage && !slices.Contains(p.path, "hook") {
		t.Errorf("%s --no-such-flag exits %d, not 2", name, code)
	}
	code, out = within(t, append(slices.Clone(p.path), "--template", "{{")...)
	if code != term.ExitUsage && !slices.Contains(p.path, "hook") {
		t.Errorf("%s with a broken template exits %d, not 2: %s", name, code, out)
	}
}

// within runs svc in this process, for what needs no world: to start hundreds
// takes long.
func within(t *testing.T, args ...string) (code int, out string) {
	t.Helper()
	var text bytes.Buffer
	env := &cli.Env{
		Screen: term.Screen{Stdin: strings.NewReader(""), Stdout: &text, Stderr: &text, Getenv: func(string) string { return "" }, Now: time.Now},
		Dir:    t.TempDir(), Hostname: "walk",
	}
	return cli.Main(t.Context(), env, args), text.String()
}

// try runs one example: as it stands, for a program to read, and, as one of a
// page, by a template.
func (b *bench) try(t *testing.T, example string, first bool) {
	t.Helper()
	line, _, _ := strings.Cut(example, "  #")
	line = strings.TrimSpace(line)
	p := playOf(line)
	p.alone = p.before != nil || p.during != nil || !reading.MatchString(line)
	if strings.Contains(line, "--json") {
		p.shows = ""
	}
	b.runs(t, example, line, p)
	words := strings.Fields(strings.NewReplacer("(", " ", ")", " ").Replace(line[max(0, strings.Index(line, "svc ")):]))
	if len(words) < 2 || slices.Contains(unspoken, words[1]) || strings.Contains(line, "--jq") || strings.Contains(line, "mcpServers") {
		return
	}
	line, _, _ = strings.Cut(line, " &&")
	p.shows = ""
	flags := []string{"--json"}
	if first {
		flags = append(flags, "--template '{{json .}}'")
	}
	if strings.Contains(line, "--json") {
		flags = flags[1:] // it was just run so
	}
	for _, flag := range flags {
		how := strings.Replace(line, strings.Join(words[:2], " "), strings.Join(words[:2], " ")+" "+flag, 1)
		out := b.runs(t, how, how, p)
		dec := json.NewDecoder(strings.NewReader(out))
		n := 0
		for ; dec.More(); n++ {
			var v any
			if err := dec.Decode(&v); err != nil {
				t.Errorf("%s: not JSON: %v: %s", how, err, beginning(out))
				break
			}
		}
		if n == 0 {
			t.Errorf("%s says nothing", how)
		}
	}
}

// runs runs a line where it can do what it says and returns what it printed.
func (b *bench) runs(t *testing.T, example, line string, p play) string {
	t.Helper()
	if p.alone {
		b = newBench(t)
	}
	if p.before != nil {
		p.before(t, b)
	}
	// Addresses of examples are those of the bench; a manual page is for a pager.
	line = strings.NewReplacer("http://127.0.0.1:7780", b.s.URL, "https://svc.example.com", b.s.URL, "https://example.com/hook",
		"http://"+b.front+"/hook2", " example.com", " http://"+b.front+"/hook", " | man -l -", "").Replace(line)
	if config, ok := strings.CutPrefix(line, "{"); ok {
		line = b.configured(t, "{"+config)
	}
	var during func(func() string, func())
	if p.during != nil {
		line = "exec " + line // so that it hears the interrupt itself
		during = func(said func() string, interrupt func()) { p.during(t, b, said, interrupt) }
	}
	code, out, errs := b.play(t, line, during)
	if code != p.code {
		t.Errorf("%s: exit %d, not %d\n%s%s", example, code, p.code, beginning(out), beginning(errs))
	} else if p.shows != "" && !regexp.MustCompile("(?m)"+p.shows).MatchString(out) {
		t.Errorf("%s does not show %q:\n%s%s", example, p.shows, beginning(out), beginning(errs))
	}
	return out
}

func beginning(s string) string { return s[:min(len(s), 700)] }

// configured is the command that a host starts by a piece of its configuration.
func (b *bench) configured(t *testing.T, text string) string {
	t.Helper()
	var config struct {
		Servers map[string]struct {
			Command string
			Args    []string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal([]byte(text), &config); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	s := config.Servers["svc"]
	return strings.Join(append([]string{s.Command}, s.Args...), " ")
}
