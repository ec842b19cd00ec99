package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/client/selfupdate"
	"github.com/svc-hq/svc/internal/core/version"
	"github.com/svc-hq/svc/internal/core/wire"
)

const (
	updateCheckFile    = "update-check.json"
	updateCheckEvery   = 12 * time.Hour
	updateCheckTimeout = 1500 * time.Millisecond
	updateSilence      = 24 * time.Hour
)

// An updateState is what is remembered between checks.
type updateState struct {
	CheckedAt       time.Time `json:"checked_at"`
	Latest          string    `json:"latest"`
	DeclinedVersion string    `json:"declined_version,omitempty"`
	DeclinedAt      time.Time `json:"declined_at,omitzero"`
}

// quietCommands never look for updates: agents call them, or they are about
// updates themselves.
var quietCommands = map[string]bool{
	"mcp": true, "mcp-headers": true, "auth-header": true, "hook": true,
	"update": true, "version": true, "completion": true, "man": true, "help": true, "svc": true,
}

// offerUpdate asks a person at a terminal, now and then, whether to install a
// newer svc. It never makes a command fail.
func offerUpdate(ctx context.Context, a *app.Run, ran *cobra.Command) {
	if !a.Terminal.In || !a.Terminal.Err || a.JSON || a.NoUpdateCheck || a.EnvSet("SVC_NO_UPDATE_CHECK") || a.Getenv("CI") != "" ||
		ran == nil || quietCommands[ran.Name()] || version.Version == version.Development {
		return
	}
	l, store, err := a.Login(login.Overrides{})
	if err != nil {
		return
	}
	state := readUpdateState(store)
	if a.Now().Sub(state.CheckedAt) < updateCheckEvery {
		return
	}
	state.CheckedAt = a.Now()
	r, from, err := quickLatest(ctx, a, l)
	if err == nil {
		state.Latest = r.Version
	}
	declined := state.DeclinedVersion == r.Version && a.Now().Sub(state.DeclinedAt) < updateSilence
	if err == nil && !declined && selfupdate.Newer(r, version.Version) {
		if !askUpdate(ctx, a, r, from) {
			state.DeclinedVersion, state.DeclinedAt = r.Version, a.Now()
		}
	}
	if data, err := json.Marshal(state); err == nil {
		_ = store.WriteFile(updateCheckFile, data) // asked again next time, then
	}
}

func readUpdateState(store login.Store) (s updateState) {
	data, err := store.ReadFile(updateCheckFile)
	if err == nil && json.Unmarshal(data, &s) != nil {
		s = updateState{} // a broken file is as good as none
	}
	return s
}

func quickLatest(ctx context.Context, a *app.Run, l login.Login) (wire.Release, string, error) {
	ctx, cancel := context.WithTimeout(ctx, updateCheckTimeout)
	defer cancel()
	c, err := remote.New(l.Server, "", remote.Options{Insecure: a.Insecure || l.Insecure, Timeout: updateCheckTimeout})
	if err != nil {
		return wire.Release{}, "", err
	}
	return latest(ctx, a, l, c, false)
}

// askUpdate offers a release and reports whether the user took it up.
func askUpdate(ctx context.Context, a *app.Run, r wire.Release, from string) bool {
	question := fmt.Sprintf("\nsvc %s is available, you have %s. Update now?", r.Version, version.Version)
	ok, err := a.Confirm(ctx, question)
	if err != nil || !ok {
		return false
	}
	if err := install(ctx, a, r, from); err != nil {
		fmt.Fprintln(a.Stderr, "svc: "+err.Error())
		return true
	}
	fmt.Fprintf(a.Stderr, "Updated to %s.\n", r.Version)
	return true
}
