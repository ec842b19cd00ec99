package work_test

import "github.com/svc-hq/svc/internal/server/daemon/daemontest"

type request = daemontest.Request
