package githost

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-github/v88/github"

	"github.com/svc-hq/svc/internal/core/coord"
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
	signature := d.Header(github.SHA256SignatureHeader)
	if !strings.HasPrefix(signature, "sha256=") {
		return nil, ErrUnsigned
	}
	if secret == "" || github.ValidateSignature(signature, d.Body, []byte(secret)) != nil {
		return nil, ErrForged
	}
	media, _, err := mime.ParseMediaType(d.Header("Content-Type"))
	if err != nil {
		media = "application/json"
	}
	return github.ValidatePayloadFromBody(media, bytes.NewReader(d.Body), signature, []byte(secret))
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
	if kind == "check_run" || kind == "check_suite" {
		return readRerun(e, kind, payload)
	}
	parsed, err := github.ParseWebHook(kind, payload)
	if err != nil {
		return e, fmt.Errorf("the %s event cannot be read: %w", kind, err)
	}
	switch p := parsed.(type) {
	case *github.PullRequestEvent:
		readPull(&e, p)
	case *github.PushEvent:
		readPush(&e, p)
	case *github.MergeGroupEvent:
		readGroup(&e, p)
	case *github.RepositoryEvent:
		readRepository(&e, p)
	case *github.InstallationEvent:
		readInstallation(&e, p)
	case *github.InstallationRepositoriesEvent:
		readInstallationRepos(&e, p)
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

func readPull(e *Event, p *github.PullRequestEvent) {
	r, pr := p.GetRepo(), p.GetPullRequest()
	e.Repo = repoOf(r)
	e.Installation = p.GetInstallation().GetID()
	switch {
	case !pullActions[p.GetAction()]:
		e.Nothing = "nothing is to be done for a pull request that was " + strconv.Quote(p.GetAction())
		return
	case pr.GetNumber() <= 0 || r.GetFullName() == "":
		e.Nothing = "it names no pull request"
		return
	}
	pull := pullOf(pr, r)
	pull.Reopened = p.GetAction() == "reopened"
	e.Pull = &pull
}

// pullOf reads a pull request of a repository. A list of them does not say
// whether they are merged, but when.
func pullOf(pr *github.PullRequest, r *github.Repository) Pull {
	p := Pull{Number: pr.GetNumber(), State: coord.PullOpen, Draft: pr.GetDraft(), HeadRef: pr.GetHead().GetRef(),
		HeadSHA: pr.GetHead().GetSHA(), SameRepo: pr.GetHead().GetRepo().GetFullName() == r.GetFullName(),
		BaseRef: pr.GetBase().GetRef(), URL: pr.GetHTMLURL(),
		ChangedAt: stamp(pr.UpdatedAt)}
	switch {
	case pr.GetMerged() || pr.MergedAt != nil:
		p.State, p.MergeSHA = coord.PullMerged, pr.GetMergeCommitSHA()
	case pr.GetState() == "closed":
		p.State = coord.PullClosed
	}
	return p
}

func repoOf(r *github.Repository) Repo {
	return Repo{
		ID:            r.GetID(),
		FullName:      r.GetFullName(),
		URL:           r.GetHTMLURL(),
		Clones:        []string{r.GetCloneURL(), r.GetSSHURL()},
		DefaultBranch: r.GetDefaultBranch(),
		Private:       r.GetPrivate(),
	}
}

// A rerunHook is what we read of the events of check runs and check suites.
// The library insists on times in parts that do not matter here, in a form
// that some of GitHub's own examples do not have.
type rerunHook struct {
	Action       string             `json:"action"`
	Repo         *github.Repository `json:"repository"`
	Installation struct {
		ID int64 `json:"id"`
	} `json:"installation"`
	Run struct {
		Suite checkSuite `json:"check_suite"`
		Pulls []numbered `json:"pull_requests"`
	} `json:"check_run"`
	Suite checkSuite `json:"check_suite"`
}

type checkSuite struct {
	Branch string     `json:"head_branch"`
	SHA    string     `json:"head_sha"`
	Pulls  []numbered `json:"pull_requests"`
}

type numbered struct {
	Number int `json:"number"`
}

// readRerun reads that somebody asks for a check again. That of a merge group
// names no pull request; its branch does.
func readRerun(e Event, kind string, payload []byte) (Event, error) {
	var h rerunHook
	if err := json.Unmarshal(payload, &h); err != nil {
		return e, fmt.Errorf("the %s event cannot be read: %w", kind, err)
	}
	e.Repo, e.Installation = repoOf(h.Repo), h.Installation.ID
	suite, pulls := h.Suite, h.Suite.Pulls
	if kind == "check_run" {
		suite, pulls = h.Run.Suite, h.Run.Pulls
	}
	if h.Action != "rerequested" {
		e.Nothing = "nothing is to be done for a check that was " + strconv.Quote(h.Action)
		return e, nil
	}
	if n, queued := queuedPull(suite.Branch); queued && suite.SHA != "" {
		e.Group = &Group{SHA: suite.SHA, Number: n}
		return e, nil
	}
	again := Rerun{SHA: suite.SHA}
	for _, p := range pulls {
		if p.Number > 0 {
			again.Numbers = append(again.Numbers, p.Number)
		}
	}
	if len(again.Numbers) == 0 && again.SHA == "" {
		e.Nothing = "it names no pull request"
		return e, nil
	}
	e.Rerun = &again
	return e, nil
}

// readGroup reads what a merge queue is about to merge.
func readGroup(e *Event, p *github.MergeGroupEvent) {
	e.Repo = repoOf(p.GetRepo())
	e.Installation = p.GetInstallation().GetID()
	group := p.GetMergeGroup()
	if p.GetAction() != "checks_requested" || group.GetHeadSHA() == "" {
		e.Nothing = "nothing is to be done for a merge group that was " + strconv.Quote(p.GetAction())
		return
	}
	e.Group = &Group{SHA: group.GetHeadSHA()}
	e.Group.Number, _ = queuedPull(strings.TrimPrefix(group.GetHeadRef(), "refs/heads/"))
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
func readRepository(e *Event, p *github.RepositoryEvent) {
	e.Repo = repoOf(p.GetRepo())
	e.Installation = p.GetInstallation().GetID()
	owner, name, _ := strings.Cut(e.Repo.FullName, "/")
	yes, no := true, false
	switch p.GetAction() {
	case "renamed":
		e.Moved = &Moved{From: owner + "/" + p.GetChanges().GetRepo().GetName().GetFrom()}
	case "transferred":
		from := p.GetChanges().GetOwner().GetOwnerInfo()
		before := from.GetUser().GetLogin()
		if before == "" {
			before = from.GetOrg().GetLogin()
		}
		e.Moved = &Moved{From: before + "/" + name}
	case "archived":
		e.Moved = &Moved{Archived: &yes}
	case "unarchived":
		e.Moved = &Moved{Archived: &no}
	default:
		e.Nothing = "nothing is to be done for a repository that was " + strconv.Quote(p.GetAction())
		return
	}
	if e.Repo.FullName == "" || strings.HasPrefix(e.Moved.From, "/") || strings.HasSuffix(e.Moved.From, "/") {
		e.Moved, e.Nothing = nil, "it names no repository"
	}
}

func readPush(e *Event, p *github.PushEvent) {
	r := p.GetRepo()
	e.Repo = Repo{
		ID:            r.GetID(),
		FullName:      r.GetFullName(),
		URL:           r.GetHTMLURL(),
		Clones:        []string{r.GetCloneURL(), r.GetSSHURL()},
		DefaultBranch: r.GetDefaultBranch(),
		Private:       r.GetPrivate(),
	}
	e.Installation = p.GetInstallation().GetID()
	branch, ok := strings.CutPrefix(p.GetRef(), "refs/heads/")
	if !ok {
		e.Nothing = "it is no push to a branch"
		return
	}
	e.Push = &Push{Branch: branch, Before: p.GetBefore(), After: p.GetAfter(), Deleted: p.GetDeleted()}
	for _, c := range p.Commits {
		if c != nil {
			e.Push.Commits = append(e.Push.Commits, c.GetID())
			e.Push.Paths = append(e.Push.Paths, slices.Concat(c.Added, c.Modified, c.Removed)...)
		}
	}
	e.Push.Paths = unique(e.Push.Paths)
}

func readInstallation(e *Event, p *github.InstallationEvent) {
	e.Installed = installedOf(p.GetInstallation())
	switch p.GetAction() {
	case "created":
		e.Installed.Set = names(p.Repositories)
	case "deleted":
		e.Installed.Gone = true
	case "suspend":
		e.Installed.Suspended = true
	}
}

func readInstallationRepos(e *Event, p *github.InstallationRepositoriesEvent) {
	e.Installed = installedOf(p.GetInstallation())
	e.Installed.Added, e.Installed.Removed = names(p.RepositoriesAdded), names(p.RepositoriesRemoved)
}

func installedOf(i *github.Installation) *Installed {
	if i == nil {
		return &Installed{}
	}
	return &Installed{
		ID:        i.GetID(),
		Account:   i.GetAccount().GetLogin(),
		Selection: i.GetRepositorySelection(),
		Suspended: i.SuspendedAt != nil,
		CreatedAt: stamp(i.CreatedAt),
		ChangedAt: stamp(i.UpdatedAt),
	}
}

func names(repos []*github.Repository) []string {
	out := make([]string, len(repos))
	for i, r := range repos {
		out[i] = r.GetFullName()
	}
	return unique(out)
}

func stamp(t *github.Timestamp) coord.Time {
	if t == nil || t.IsZero() {
		return 0
	}
	return coord.Time(t.UnixMilli())
}
