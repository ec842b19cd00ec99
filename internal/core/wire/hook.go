// Package wire holds the shapes of requests and replies, and the hook
// protocol, shared by server and client. Limits are written here once, as
// struct tags: validation, the API document and the tools' schemas derive
// from them. No behaviour belongs here, and no shape that only one side knows.
//
// Tags: minLength, maxLength (characters), minItems, maxItems, itemMinLength,
// itemMaxLength, minimum, maximum, enum (comma-separated), default, format,
// pattern, doc, example. A field is optional when it is a pointer, a slice or
// tagged omitempty or required:"false". path, query and header say where REST
// takes a field from; all others are in the body.
package wire

import (
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
)

// HookProtocol is the version of the hook protocol, sent in X-Svc-Protocol.
const HookProtocol = "1"

// DoctorTool is the tool of the session that svc doctor plays to see whether
// hooks are answered. No agent is behind it: it is told nothing, and takes up
// no work.
const DoctorTool = "doctor"

// EditorTool is the tool of the session that stands for a person's own edits in
// a working copy. No agent is behind it: it takes up no work that an agent left.
const EditorTool = "editor"

// Limits of hook texts, in characters.
const (
	MaxPromptExcerpt = 2000
	MaxPlanText      = 32768
	MaxShellCommand  = 4000
	MaxStatusExcerpt = 500
	MaxHookContext   = 6000
	MaxHookPaths     = 500
	MaxHookPackages  = 200
)

// A HookEvent is what happened in an agent host.
type HookEvent string

const (
	HookSessionStart HookEvent = "session_start"
	HookPrompt       HookEvent = "prompt"
	HookPlan         HookEvent = "plan"
	HookPreEdit      HookEvent = "pre_edit"
	HookPreShell     HookEvent = "pre_shell"
	HookPostEdit     HookEvent = "post_edit"
	HookStop         HookEvent = "stop"
	HookSessionEnd   HookEvent = "session_end"
	HookPrePush      HookEvent = "pre_push"
)

// HookEvents lists every event of the protocol.
func HookEvents() []HookEvent {
	return []HookEvent{HookSessionStart, HookPrompt, HookPlan, HookPreEdit, HookPreShell, HookPostEdit, HookStop, HookSessionEnd, HookPrePush}
}

// Enum lists the values for validation and the API document.
func (HookEvent) Enum() []string {
	out := make([]string, 0, 9)
	for _, e := range HookEvents() {
		out = append(out, string(e))
	}
	return out
}

// A HookRequest tells the service of one event. Unknown fields are ignored: a
// newer client must work with an older server.
type HookRequest struct {
	Event         HookEvent       `json:"event"`
	DedupeKey     string          `json:"dedupe_key,omitempty" maxLength:"200" doc:"A retried event is evaluated once"`
	Session       HookSession     `json:"session"`
	Client        HookClient      `json:"client,omitempty" required:"false"`
	Repo          HookRepo        `json:"repo"`
	PromptExcerpt string          `json:"prompt_excerpt,omitempty" maxLength:"2000"`
	PlanText      string          `json:"plan_text,omitempty" maxLength:"32768"`
	Task          *HookTask       `json:"task,omitempty" doc:"For plan, in place of a text: a task of the team that the host itself runs. It is an intent of no session and no scope until it is done"`
	Paths         []string        `json:"paths,omitempty" maxItems:"500" itemMinLength:"1" itemMaxLength:"1024" doc:"Repo-relative paths about to be written, or written"`
	Folders       []string        `json:"folders,omitempty" maxItems:"100" itemMinLength:"1" itemMaxLength:"1024" doc:"For pre_edit and pre_shell: selectors such as a/** where more is about to be written than paths lists. What others hold there counts as hit"`
	Shell         *HookShell      `json:"shell,omitempty"`
	Analysis      *coord.Analysis `json:"analysis,omitempty"`
	Untold        bool            `json:"untold,omitempty" doc:"For post_edit: the paths were found changed in the working copy, and no hook had told of the edit. Where it meets somebody else's exclusive claim, both sides are told so"`
	Status        *HookStatus     `json:"status,omitempty"`
	Pending       []HookPending   `json:"pending,omitempty" maxItems:"500" doc:"For pre_edit, when the answer before asked for it in want_lines: the base lines that the edit would replace"`
	LineMaps      []coord.LineMap `json:"line_maps,omitempty" maxItems:"20" doc:"What an answer before asked for in wants, as far as this machine has both versions"`
	Checked       []string        `json:"checked,omitempty" maxItems:"500" itemMinLength:"1" itemMaxLength:"1024" doc:"For pre_edit and pre_shell: those of paths of which the client knows what others changed in this working copy since the session last saw them. It says itself what matters of that"`
	StaleWrites   int             `json:"stale_writes,omitempty" minimum:"0" doc:"Edits of this session that the client refused since one was last told, because they would have undone what others changed in this working copy"`
	FailOpens     int             `json:"fail_opens,omitempty" minimum:"0" doc:"Events of this session that failed open since one was last answered"`
	Unheard       []string        `json:"unheard,omitempty" maxItems:"20" itemMinLength:"1" itemMaxLength:"200" doc:"The dedupe_key of events of this session whose answers did not arrive: what they told is told again"`
}

// A HookTask is one of the tasks that the agents of a host's own team share.
type HookTask struct {
	Team  string `json:"team" minLength:"1" maxLength:"100"`
	ID    string `json:"id" minLength:"1" maxLength:"50" doc:"Within the team"`
	Title string `json:"title,omitempty" maxLength:"200"`
	Done  bool   `json:"done,omitempty"`
}

// A HookPending is what a file would look like after an edit that is about to
// be made: like the lines of an analysis, before there is anything on disk.
type HookPending struct {
	Path     string       `json:"path" minLength:"1" maxLength:"1024"`
	BaseBlob string       `json:"base_blob,omitempty" maxLength:"64" doc:"Git blob id that the ranges refer to; empty for a new file"`
	NewBlob  string       `json:"new_blob,omitempty" maxLength:"64" doc:"Git blob id of the content after the edit; empty for a deleted file"`
	NowBlob  string       `json:"now_blob,omitempty" maxLength:"64" doc:"Git blob id of the content on disk, before the edit; empty where there is no file"`
	Hunks    []coord.Hunk `json:"hunks,omitempty" maxItems:"2000" doc:"All the lines of the base that differ after the edit, those of earlier edits too"`
	Edits    []coord.Hunk `json:"edits,omitempty" maxItems:"2000" doc:"The lines of now_blob that this edit alone replaces"`
}

// A HookSession tells whose event it is.
type HookSession struct {
	ExternalID       string `json:"external_id" minLength:"1" maxLength:"200"`
	Tool             string `json:"tool" minLength:"1" maxLength:"40" doc:"The agent host, such as claude_code"`
	Model            string `json:"model,omitempty" maxLength:"200"`
	Surface          string `json:"surface,omitempty" maxLength:"40"`
	Key              string `json:"key,omitempty" maxLength:"200" doc:"A secret that only this session's host knows. A caller that acts as the session sends it in X-Svc-Session-Key. From the first event that has one, external_id without it is another session"`
	ParentExternalID string `json:"parent_external_id,omitempty" maxLength:"200" doc:"Set for sub-agents: they share their parent's lineage"`
	ParentKey        string `json:"parent_key,omitempty" maxLength:"200" doc:"The parent's key, where it has one"`
	Deaf             bool   `json:"deaf,omitempty" doc:"The host shows its agent no context: what is new waits for the agent's next tool call"`
}

// A HookClient tells which client sent the event.
type HookClient struct {
	CLIVersion    string `json:"cli_version,omitempty" maxLength:"40"`
	OS            string `json:"os,omitempty" maxLength:"40"`
	ToolVersion   string `json:"tool_version,omitempty" maxLength:"80"`
	MachineIDHash string `json:"machine_id_hash,omitempty" maxLength:"64"`
}

// A HookRepo tells where the event happened.
type HookRepo struct {
	RemoteFingerprints []string      `json:"remote_fingerprints" minItems:"1" maxItems:"20" itemMinLength:"1" itemMaxLength:"500" doc:"<host>/<owner>/<name> of each remote, origin first"`
	Branch             string        `json:"branch,omitempty" maxLength:"255"`
	DefaultBranch      string        `json:"default_branch,omitempty" maxLength:"255"`
	HeadSHA            string        `json:"head_sha,omitempty" maxLength:"64"`
	BaseSHA            string        `json:"base_sha,omitempty" maxLength:"64" doc:"Merge base with the default branch"`
	WorktreeHash       string        `json:"worktree_hash,omitempty" maxLength:"64" doc:"Keyed hash of the worktree's path"`
	CwdPath            string        `json:"cwd_path,omitempty" maxLength:"1024" doc:"Working folder, relative to the repository's root"`
	Packages           []HookPackage `json:"packages,omitempty" maxItems:"200"`
	IgnoreCase         bool          `json:"ignore_case,omitempty" doc:"git's core.ignorecase: paths that differ in case alone are one file"`
	RootCommits        []string      `json:"root_commits,omitempty" maxItems:"20" itemMinLength:"40" itemMaxLength:"64" doc:"Commits without parents, of a whole clone: by them a repository is known again under another name. Told with session_start and prompt"`
	KnownOnly          bool          `json:"known_only,omitempty" doc:"Nothing in the repository asks for svc: the hooks are those of the user for all folders. A repository that the org does not have stays unknown"`
}

// A HookPackage is a workspace package of the repository.
type HookPackage struct {
	Name     string `json:"name" minLength:"1" maxLength:"200"`
	Path     string `json:"path" maxLength:"1024"`
	Language string `json:"language,omitempty" maxLength:"40"`
}

// A HookShell is a command about to run.
type HookShell struct {
	Command string    `json:"command" maxLength:"4000"`
	Git     []HookGit `json:"git,omitempty" maxItems:"20" doc:"Commands in it that reach beyond the caller's own files"`
}

// MaxHookGit is how many commands one event names.
const MaxHookGit = 20

// A HookGit is a git command that takes hold of uncommitted work as a whole.
// In a working copy with several agents that may be somebody else's: only the
// client can read which files it would hit, only the service knows whose they
// are.
type HookGit struct {
	Verb   string    `json:"verb" minLength:"1" maxLength:"40" doc:"The git command as one would say it: stash, reset, clean, commit, stash pop, rebase --abort. With renames, leaves and blinds the whole command or edit: git remote set-url, svc logout"`
	Effect GitEffect `json:"effect"`
	Files  []GitFile `json:"files,omitempty" maxItems:"500" doc:"The files with uncommitted work that it would hit"`
	All    bool      `json:"all,omitempty" doc:"Every uncommitted change of the working copy: set when the files are too many to list"`
	// Stashes are those that are gone after it.
	Stashes []GitStash `json:"stashes,omitempty" maxItems:"100" doc:"The stashes that are gone after it and whose maker is known"`
}

// A GitStash is a stash that an agent of this machine made.
type GitStash struct {
	Name      string `json:"name" minLength:"1" maxLength:"40" doc:"As git calls it: stash@{0}"`
	SessionID string `json:"session_id" format:"uuid" doc:"Of the session that made it"`
}

// A GitFile is a file with uncommitted work. What was written before the last
// commit of the file is in that commit, and safe.
type GitFile struct {
	Path        string      `json:"path" minLength:"1" maxLength:"1024" doc:"Relative to the repository's root"`
	CommittedAt *coord.Time `json:"committed_at,omitempty" doc:"When the last commit of the current branch that changed it was made"`
}

// A GitEffect is what a command does to uncommitted work, or to what svc sees of
// the working copy.
type GitEffect string

const (
	GitDiscards GitEffect = "discards" // it is gone from the files: stash, reset --hard, checkout -- ., clean -fd, rebase --abort
	GitSweeps   GitEffect = "sweeps"   // it goes into the caller's commit: add -A, commit -a
	GitMoves    GitEffect = "moves"    // it stays, on another commit or mixed with changes: switch, merge, pull, stash pop
	GitRenames  GitEffect = "renames"  // the working copy would be another repository, or none
	GitLeaves   GitEffect = "leaves"   // svc would be logged out, stopped, or ask another server
	GitBlinds   GitEffect = "blinds"   // svc's own files, or the settings that run its hooks, would change
)

// Enum lists the values for validation and the API document.
func (GitEffect) Enum() []string {
	return []string{string(GitDiscards), string(GitSweeps), string(GitMoves), string(GitRenames), string(GitLeaves), string(GitBlinds)}
}

// A HookStatus is what an agent said at the end of its turn.
type HookStatus struct {
	Excerpt string   `json:"excerpt,omitempty" maxLength:"500"`
	Files   []string `json:"files,omitempty" maxItems:"500" itemMaxLength:"1024"`
	Asks    HookAsk  `json:"asks,omitempty" doc:"What its person is to do: answer the question that the turn ended with, or give permission for what comes next, in the middle of a turn. A client that sends excerpt and knows of no question sends none"`
}

// A HookAsk is what an agent waits for its person to do.
type HookAsk string

const (
	AskAnswer     HookAsk = "answer"
	AskPermission HookAsk = "permission"
)

// Enum lists the values for validation and the API document.
func (HookAsk) Enum() []string { return []string{string(AskAnswer), string(AskPermission)} }

// A Decision is the answer to "may I?".
type Decision string

const (
	Allow Decision = "allow"
	Warn  Decision = "warn"
	Block Decision = "block"
)

// Enum lists the values for the API document.
func (Decision) Enum() []string { return []string{string(Allow), string(Warn), string(Block)} }

// A HookReply is the service's answer to an event.
type HookReply struct {
	Decision      Decision            `json:"decision"`
	Reason        string              `json:"reason"`
	InjectContext string              `json:"inject_context" doc:"Text for the model; peer text in it is marked"`
	Conflicts     []HookConflict      `json:"conflicts"`
	Intent        *HookIntent         `json:"intent"`
	SessionID     *string             `json:"session_id"`
	IndexVersion  int                 `json:"index_version" doc:"0 asks the client for an initial scan"`
	Wants         []WantedMap         `json:"wants,omitempty" doc:"Versions of files that others started from. A client that has both versions tells with its next report how their lines go together, in line_maps"`
	Watch         []coord.WatchedName `json:"watch,omitempty" doc:"Definitions that others in the repository took away or changed, and that nothing else there goes by. A client looks whether the files that it reports newly mention one, and tells it among their references"`
	MergeChecks   []WantedCheck       `json:"merge_checks,omitempty" doc:"Work that this session's is related to by the facts. A client that has it merges both in a folder of its own, in the background, and has the languages' checkers look; what they say stays on its machine"`
	WantLines     []string            `json:"want_lines,omitempty" doc:"To pre_edit: files in which others have changes. The client works out which lines the edit would replace, and asks again with pending"`
	StaleWrite    string              `json:"stale_write,omitempty" enum:"refuse,warn,off" doc:"The repository's policy for edits that would undo lines which another agent in the same working copy changed since; refuse where it is missing"`
	Unchecked     Unchecked           `json:"unchecked,omitempty" doc:"Nobody decided this edit, and why. It goes on; its agent and its person are told"`
}

// Unchecked says why nobody decided an edit.
type Unchecked string

const (
	UncheckedServer   Unchecked = "unreachable" // the server did not answer in time
	UncheckedBusy     Unchecked = "busy"        // it had no room
	UncheckedDatabase Unchecked = "database"    // its database did not answer in time
)

// Enum lists the values for the API document.
func (Unchecked) Enum() []string {
	return []string{string(UncheckedServer), string(UncheckedBusy), string(UncheckedDatabase)}
}

// A WantedMap is a pair of versions of a file, of which the service would like
// to know how their lines go together.
type WantedMap struct {
	Path   string `json:"path"`
	Ours   string `json:"ours" doc:"Git blob id that this session's change started from"`
	Theirs string `json:"theirs" doc:"Git blob id that somebody else's started from"`
}

// A WantedCheck is somebody's work that is worth merging with the session's.
type WantedCheck struct {
	Copy   string       `json:"copy" doc:"Keyed hash of the path of the working copy that it is in: the machine that has it knows it by that"`
	Branch string       `json:"branch,omitempty" doc:"The branch, where policy lets what was pushed be taken"`
	Pull   int          `json:"pull,omitempty" minimum:"1" doc:"The pull or merge request, if there is one: its head may be in a fork"`
	Who    string       `json:"who" doc:"The intent or the person, to name it by"`
	Patch  *WantedPatch `json:"patch,omitempty" doc:"Set where the policy share_patches lets machines hand each other work that is not pushed"`
}

// A WantedPatch names what a machine may hand over of its own work, by
// POST /v1/patches, to get what is related to it.
type WantedPatch struct {
	Repo string   `json:"repo" doc:"The repo's id"`
	Near []string `json:"near" doc:"The session's own files that the other work is related to"`
}

// A HookConflict is a conflict in a reply.
type HookConflict struct {
	Number   int                `json:"number"`
	Ref      string             `json:"ref"`
	Kind     coord.ConflictKind `json:"kind"`
	Severity coord.Severity     `json:"severity"`
}

// A HookIntent is the session's intent in a reply.
type HookIntent struct {
	Number int                `json:"number"`
	Ref    string             `json:"ref"`
	Status coord.IntentStatus `json:"status"`
	Title  string             `json:"title,omitempty" doc:"What the session works on: other sessions of this machine are told of it by that"`
}

// EvaluateHook is a hook event with the protocol its sender speaks.
type EvaluateHook struct {
	Protocol string `header:"X-Svc-Protocol"`
	HookRequest
}

// CheckProtocol refuses a protocol that we do not speak. It is asked before the
// body is read: another protocol's may have another shape.
func (h *EvaluateHook) CheckProtocol() error {
	if h.Protocol == "" || h.Protocol == HookProtocol {
		return nil
	}
	return problem.Newf(problem.UnsupportedProtocol, "this server speaks hook protocol %s, not %.20s; update svc or the server",
		HookProtocol, h.Protocol)
}
