package cli

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/setup"
	"github.com/svc-hq/svc/internal/core/peertext"
)

// A lacking is a host that does not have our tools yet and writes the file of
// its tool servers itself.
type lacking struct {
	host, file, home string
	add              []string
}

// lackingServers lists the hosts that are to be asked to add our tools, and
// what to say of those that are not on the PATH and cannot be asked.
func lackingServers(home, program string, hosts []string) (all []lacking, notes []string) {
	for _, id := range hosts {
		part, add := setup.UserServer(home, id, program)
		if add == nil || part.Present || part.Err != nil {
			continue
		}
		if _, err := exec.LookPath(add[0]); err == nil {
			all = append(all, lacking{id, part.File, home, add})
		} else {
			notes = append(notes, fmt.Sprintf("%s is not on the PATH; for its tools, run once: %s", add[0], strings.Join(add, " ")))
		}
	}
	return all, notes
}

// addServers has each host add our tools, looks whether it did, and says what
// is left to do where it did not: the hooks work without them.
func addServers(ctx context.Context, all []lacking) (notes []string) {
	for _, l := range all {
		said := askHost(ctx, l.add)
		if part, _ := setup.UserServer(l.home, l.host, ""); !part.Present {
			notes = append(notes, fmt.Sprintf("the hooks are written, but %s did not add the tools (%s); run it yourself: %s",
				l.host, said, strings.Join(l.add, " ")))
		}
	}
	return notes
}

// dropServers takes our tools out where a host added them.
func dropServers(ctx context.Context, home string, hosts []string) (files []string, err error) {
	for _, id := range hosts {
		drop := setup.DropServer(id)
		part, _ := setup.UserServer(home, id, "")
		if drop == nil || !part.Present {
			continue
		}
		said := askHost(ctx, drop)
		if left, _ := setup.UserServer(home, id, ""); left.Present {
			return files, fmt.Errorf("%s did not remove the tools: %s; run it yourself: %s", id, said, strings.Join(drop, " "))
		}
		files = append(files, part.File)
	}
	return files, nil
}

// askHost runs a command of a host's own and returns what it said, in a line.
func askHost(ctx context.Context, args []string) string {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput()
	if said := strings.TrimSpace(string(out)); said != "" {
		return peertext.Line(said, 200)
	}
	if err != nil {
		return err.Error()
	}
	return "it said nothing"
}

// tryHook runs a hook as a host would, outside of every repository: what it
// prints is JSON, or nothing, and it ends with 0.
func tryHook(ctx context.Context, program, dir string) error {
	if program == "" {
		return errors.New("svc does not know where it is, so hooks may not find it; put it on the PATH of your agents")
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "hook", "--tool", "claude_code", "--event", "Stop")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(`{"hook_event_name":"Stop","session_id":"svc-up","cwd":"."}`)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("a hook does not run (%s %v), so agents are not warned: run svc doctor", program, err)
	}
	return nil
}
