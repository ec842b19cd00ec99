// Package doctor examines whether svc can do its work on this machine. Each
// check is a row; a check that fails says what to type. It changes nothing
// unless asked to mend, and then only what is ours.
package doctor

import (
	"context"
	"io/fs"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/patience"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/wire"
)

// A Level is how a check ended.
type Level string

const (
	OK   Level = "ok"
	Warn Level = "warn"
	Fail Level = "fail"
)

// rank orders levels from good to bad.
var rank = map[Level]int{OK: 0, Warn: 1, Fail: 2}

// A Check is one finding.
type Check struct {
	Name   string `json:"name"`
	Level  Level  `json:"level"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"`
	// Mend repairs it, where that is ours to do; nil where only a person can.
	Mend func(context.Context) error `json:"-"`
	// Init is the run of svc init that repairs it, where one does: Fix says it.
	Init *Init `json:"-"`
}

// An Init is a run of svc init for some hosts.
type Init struct {
	Tools      []string
	User, Home bool
}

// String is the command.
func (i Init) String() string {
	out := "svc init"
	if i.User {
		out += " --user"
	}
	out += " --tools " + strings.Join(i.Tools, ",")
	if i.Home {
		out += " --home"
	}
	return out
}

// FixedBy is the check with a run of svc init as what repairs it.
func (c Check) FixedBy(i Init) Check {
	c.Fix, c.Init = i.String(), &i
	return c
}

// A Report is the whole examination.
type Report struct {
	Result Level   `json:"result"`
	Checks []Check `json:"checks"`
}

// ExitCode is 0 when all is well, 1 with warnings, 2 with failures.
func (r Report) ExitCode() int { return rank[r.Result] }

// A Patient is what is examined. Nil functions are parts that are not there.
type Patient struct {
	Now        func() time.Time
	ConfigPath string
	Login      login.Login
	LoginErr   error // why the login cannot be read
	Remote     *remote.Client
	RemoteErr  error // why there is no client
	Repo       wire.HookRepo
	RepoRoot   string
	Client     wire.HookClient
	// Remotes are the addresses that git has, whether or not they say which
	// repository this is; Shallow means that git has a part of the history.
	Remotes []string
	Shallow bool
	// Exposed is the mode in which others could read the config file, 0 if not;
	// Writable tells why its folder takes no file.
	Exposed  fs.FileMode
	Writable func() error
	// Getenv reads the environment.
	Getenv func(string) string
	// Program examines the svc that agent hosts start.
	Program func(context.Context) []Check
	// Unpacked tells why the part of svc that reads code cannot be started.
	Unpacked func() error
	// Memory returns the folder in which hooks remember, and why they cannot;
	// Ours whether it is ours to remove, which Forget does.
	Memory func() (folder string, err error)
	Ours   func(folder string) bool
	Forget func(folder string) error
	// Reads returns the languages whose definitions this build knows, and in
	// what form it has their grammars.
	Reads func() (how string, languages []string)
	// Hosts examines the agent hosts: their hooks, tool-server entries and
	// whether they trust them.
	Hosts func(context.Context) []Check
	// Missed tells how many events of agents the server has not answered since
	// it last did, and when the last of them was.
	// Heard forgets them.
	Missed func() (count int, last time.Time)
	Heard  func()
	// Edge says how the process fares that answers for the server on this machine:
	// nil where none runs, and whether one is wanted.
	Edge func(context.Context) (report *wire.EdgeServerReport, wanted bool)
	// Latest returns the newest version of svc, and whether it is newer.
	Latest func(context.Context) (version string, newer bool, err error)
}

// slow is the answer time above which a person notices us.
var slow = patience.Of(400 * time.Millisecond)

// A row is one check. Those that need the server are left out, and said so,
// when it does not answer.
type row struct {
	name  string
	needs need
	run   func(context.Context, *Patient) []Check
}

type need int

const (
	nothing need = iota
	aLogin
	aServer
	aToken
)

var rows = []row{
	{"program", nothing, checkProgram},
	{"paths", nothing, checkPaths},
	{"languages", nothing, checkLanguages},
	{"config", nothing, checkConfig},
	{"server", aLogin, checkServer},
	{"distance", aServer, checkDistance},
	{"clock", aServer, checkClock},
	{"token", aServer, checkToken},
	{"git", nothing, checkGit},
	{"hosts", nothing, checkHosts},
	{"memory", nothing, checkMemory},
	{"hooks", nothing, checkMissed},
	{"unchecked", aToken, checkUnchecked},
	{"round trip", aToken, checkRoundTrip},
	{"version", aServer, checkVersion},
}

// Examine runs every check. seen, if not nil, is told of each as it ends.
func Examine(ctx context.Context, p *Patient, seen func(Check)) Report {
	r := Report{Result: OK, Checks: []Check{}}
	bad := map[string]bool{}
	for _, row := range rows {
		var checks []Check
		switch {
		case row.needs >= aLogin && p.LoginErr != nil:
			checks = []Check{{Name: row.name, Level: Warn, Detail: "not checked: the login cannot be read"}}
		case row.needs >= aServer && bad["server"]:
			checks = []Check{{Name: row.name, Level: Warn, Detail: "not checked: the server does not answer"}}
		case row.needs >= aToken && bad["token"]:
			checks = []Check{{Name: row.name, Level: Warn, Detail: "not checked: there is no valid token"}}
		default:
			checks = row.run(ctx, p)
		}
		for _, c := range checks {
			if c.Level == Fail {
				bad[row.name] = true
			}
			if rank[c.Level] > rank[r.Result] {
				r.Result = c.Level
			}
			r.Checks = append(r.Checks, c)
			if seen != nil {
				seen(c)
			}
		}
	}
	return r
}
