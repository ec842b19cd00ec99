package githost

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"mime"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// AppID returns the app that a delivery says it is for, 0 if it does not say.
// Nothing is proved by it: it only tells which secret to try.
func (d Delivery) AppID() int64 {
	if d.Header("X-GitHub-Hook-Installation-Target-Type") != "integration" {
		return 0
	}
	id, _ := strconv.ParseInt(d.Header("X-GitHub-Hook-Installation-Target-ID"), 10, 64)
	return id
}

// VerifyGitHub returns the JSON of a delivery that is signed with the secret.
// The older SHA-1 signatures do not count.
func (d Delivery) VerifyGitHub(secret string) ([]byte, error) {
	signature, ok := strings.CutPrefix(d.Header("X-Hub-Signature-256"), "sha256=")
	if !ok {
		return nil, ErrUnsigned
	}
	given, err := hex.DecodeString(signature)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(d.Body)
	if secret == "" || err != nil || !hmac.Equal(given, mac.Sum(nil)) {
		return nil, ErrForged
	}
	switch media, _, err := mime.ParseMediaType(d.Header("Content-Type")); {
	case err != nil || media == "application/json":
		return d.Body, nil
	case media == "application/x-www-form-urlencoded":
		form, err := url.ParseQuery(string(d.Body))
		return []byte(form.Get("payload")), err
	default:
		return nil, fmt.Errorf("its content is of a kind that GitHub does not send (%s)", media)
	}
}

// ReadGitHub reads a verified delivery.
func ReadGitHub(kind, delivery string, payload []byte) (e Event, err error) {
	e.Delivery = delivery
	switch kind {
	case "pull_request", "push", "installation", "installation_repositories", "repository", "check_run", "check_suite", "merge_group":
	default:
		e.Nothing = "nothing is to be done for a " + strconv.Quote(kind) + " event"
		return e, nil
	}
	var h hubHook
	if err := json.Unmarshal(payload, &h); err != nil {
		return e, fmt.Errorf("the %s event cannot be read: %w", kind, err)
	}
	e.Repo, e.Installation = h.Repository.repo(), h.Installation.ID
	switch kind {
	case "pull_request":
		h.readPull(&e)
	case "push":
		h.readPush(&e)
	case "merge_group":
		h.readGroup(&e)
	case "repository":
		h.readRepository(&e)
	case "check_run":
		h.readRerun(&e, h.CheckRun.Suite, h.CheckRun.Pulls)
	case "check_suite":
		h.readRerun(&e, h.CheckSuite, h.CheckSuite.Pulls)
	case "installation":
		h.readInstallation(&e)
	case "installation_repositories":
		e.Installed = h.Installation.installed()
		e.Installed.Added, e.Installed.Removed = names(h.Added), names(h.Removed)
	}
	if e.Installed != nil && e.Installed.ID == 0 {
		e.Installed, e.Nothing = nil, "it names no installation"
	}
	return e, nil
}

// pullActions are those after which something is to be done.
var pullActions = map[string]bool{
	"opened":             true,
	"reopened":           true,
	"closed":             true,
	"synchronize":        true,
	"edited":             true,
	"ready_for_review":   true,
	"converted_to_draft": true,
}

func (h *hubHook) readPull(e *Event) {
	switch {
	case !pullActions[h.Action]:
		e.Nothing = "nothing is to be done for a pull request that was " + strconv.Quote(h.Action)
		return
	case h.PullRequest.Number <= 0 || h.Repository.FullName == "":
		e.Nothing = "it names no pull request"
		return
	}
	pull := h.PullRequest.pull(h.Repository)
	pull.Reopened = h.Action == "reopened"
	e.Pull = &pull
}

// readRerun reads that somebody asks for a check again. That of a merge group
// names no pull request; its branch does.
func (h *hubHook) readRerun(e *Event, suite checkSuite, pulls []pullRef) {
	if h.Action != "rerequested" {
		e.Nothing = "nothing is to be done for a check that was " + strconv.Quote(h.Action)
		return
	}
	if n, queued := queuedPull(suite.Branch); queued && suite.SHA != "" {
		e.Group = &Group{SHA: suite.SHA, Number: n}
		return
	}
	again := Rerun{SHA: suite.SHA}
	for _, p := range pulls {
		if p.Number > 0 {
			again.Numbers = append(again.Numbers, p.Number)
		}
	}
	if len(again.Numbers) == 0 && again.SHA == "" {
		e.Nothing = "it names no pull request"
		return
	}
	e.Rerun = &again
}

// readGroup reads what a merge queue is about to merge.
func (h *hubHook) readGroup(e *Event) {
	if h.Action != "checks_requested" || h.MergeGroup.HeadSHA == "" {
		e.Nothing = "nothing is to be done for a merge group that was " + strconv.Quote(h.Action)
		return
	}
	e.Group = &Group{SHA: h.MergeGroup.HeadSHA}
	e.Group.Number, _ = queuedPull(strings.TrimPrefix(h.MergeGroup.HeadRef, "refs/heads/"))
}

// queuedPull reads the branch that GitHub makes for a merge group:
// gh-readonly-queue/<target>/pr-<number>-<commit>.
func queuedPull(branch string) (number int, queued bool) {
	if !strings.HasPrefix(branch, "gh-readonly-queue/") {
		return 0, false
	}
	last := branch[strings.LastIndexByte(branch, '/')+1:]
	digits, _, _ := strings.Cut(strings.TrimPrefix(last, "pr-"), "-")
	number, _ = strconv.Atoi(digits)
	return max(number, 0), true
}

// readRepository reads what became of a repository itself.
func (h *hubHook) readRepository(e *Event) {
	owner, name, _ := strings.Cut(e.Repo.FullName, "/")
	yes, no := true, false
	switch h.Action {
	case "renamed":
		e.Moved = &Moved{From: owner + "/" + h.Changes.Repository.Name.From}
	case "transferred":
		from := h.Changes.Owner.From
		before := cmp.Or(from.User.Login, from.Organization.Login)
		e.Moved = &Moved{From: before + "/" + name}
	case "archived":
		e.Moved = &Moved{Archived: &yes}
	case "unarchived":
		e.Moved = &Moved{Archived: &no}
	default:
		e.Nothing = "nothing is to be done for a repository that was " + strconv.Quote(h.Action)
		return
	}
	if e.Repo.FullName == "" || strings.HasPrefix(e.Moved.From, "/") || strings.HasSuffix(e.Moved.From, "/") {
		e.Moved, e.Nothing = nil, "it names no repository"
	}
}

func (h *hubHook) readPush(e *Event) {
	branch, ok := strings.CutPrefix(h.Ref, "refs/heads/")
	if !ok {
		e.Nothing = "it is no push to a branch"
		return
	}
	e.Push = &Push{Branch: branch, Before: h.Before, After: h.After, Deleted: h.Deleted}
	for _, c := range h.Commits {
		e.Push.Commits = append(e.Push.Commits, c.ID)
		e.Push.Paths = append(e.Push.Paths, slices.Concat(c.Added, c.Modified, c.Removed)...)
	}
	e.Push.Paths = unique(e.Push.Paths)
}

func (h *hubHook) readInstallation(e *Event) {
	e.Installed = h.Installation.installed()
	switch h.Action {
	case "created":
		e.Installed.Set = names(h.Repositories)
	case "deleted":
		e.Installed.Gone = true
	case "suspend":
		e.Installed.Suspended = true
	}
}
