// Command hookproc is svc hook and nothing else, for the benchmark.
package main

import (
	"context"
	"os"

	"github.com/svc-hq/svc/internal/client/hook"
)

func main() {
	os.Exit(hook.Run(context.Background(), hook.Env{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Version: "bench",
		Login: func(hook.Identity) (hook.Login, error) {
			return hook.Login{Server: os.Getenv("SVC_SERVER"), Token: os.Getenv("SVC_TOKEN"), MachineID: "m"}, nil
		},
		ConfigDir: func() (string, error) { return os.Getenv("SVC_CONFIG_DIR"), nil },
	}))
}
