package presence

import (
	"os"
	"strings"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// A Process is a running program. Numbers of processes are used again, so when
// it started is part of it.
type Process struct {
	PID   int    `json:"pid"`
	Start string `json:"start"`
}

// alive reports whether the process still runs, or cannot be seen.
func (p Process) alive() bool {
	now, err := look(p.PID)
	return err != nil && !os.IsNotExist(err) || err == nil && now.start == p.Start
}

// A seen is what there is to see of a process.
type seen struct {
	start   string
	parent  int
	name    string
	command bool // a shell that runs one command line
}

const (
	maxHosts   = 4  // how many of the processes above are written down
	maxParents = 16 // and looked at
)

// shells start programs for others. Nobody's host is one.
var shells = lazy.Words("sh bash dash zsh ash fish ksh busybox cmd powershell pwsh env timeout nice nohup setsid stdbuf time sudo script")

// grounds are what hosts run in: above them nothing is a host.
var grounds = lazy.Words("init systemd launchd tmux screen sshd login su gnome-shell gnome-terminal- plasmashell konsole xterm kitty " +
	"alacritty wezterm-gui ghostty foot terminal iterm2 explorer windowsterminal conhost openconsole dockerd containerd-shim runc zellij " +
	"services svchost winlogon userinit cron crond go make")

// Hosts returns the processes above this one of which one may be the agent
// host, nearest first: no shells, and nothing above a terminal.
func Hosts() []Process {
	var out []Process
	pid := os.Getppid()
	for range maxParents {
		if pid <= 1 {
			break
		}
		p, err := look(pid)
		if err != nil {
			break
		}
		name := strings.TrimSuffix(strings.ToLower(strings.TrimPrefix(p.name, "-")), ".exe")
		first, _, _ := strings.Cut(name, ":") // tmux: server
		switch {
		case grounds.Has(first):
			return out
		case shells.Has(name):
			if len(out) > 0 && !p.command { // somebody types into it
				return out
			}
		default:
			out = append(out, Process{pid, p.start})
		}
		if len(out) == maxHosts {
			break
		}
		pid = p.parent
	}
	return out
}
