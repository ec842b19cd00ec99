# make          lists the targets
VERSION := $(shell git describe --tags --dirty --match 'v[0-9]*' 2>/dev/null || echo 0.0.0-dev)
LDFLAGS := -s -w -X github.com/svc-hq/svc/internal/core/version.Version=$(VERSION:v%=%)
# Agents start svc at every edit: linked statically it need not load the C library first.
STATIC  := $(if $(wildcard $(shell $${CC:-cc} -print-file-name=libc.a 2>/dev/null)),-extldflags=-static)
ADDR    ?= 127.0.0.1:7780
DATA    ?= .data
OWNER   ?= owner@localhost
TOOL    := go tool -modfile=.ci/go.mod
PG      := go run ./internal/tools/pgrun --
DIST    := internal/server/dashboard/dist/index.html

.PHONY: help run build test test-web test-short test-hosts screenshots bench conformance lint
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

run: build ## build and start the service on SQLite in .data, with an owner account
	bin/svcd serve --addr $(ADDR) --data $(DATA) --owner $(OWNER)

build: $(if $(wildcard web/package.json),$(DIST)) ## build bin/svc and bin/svcd
	go build -tags netgo,osusergo -ldflags '$(LDFLAGS) $(STATIC)' -o bin/ ./cmd/...

$(DIST): $(shell find web -type f -not -path '*/node_modules/*' -not -path 'web/screenshots/*' -not -name '*.gen.ts' 2>/dev/null)
	@command -v npm >/dev/null || { echo "the dashboard needs Node.js 20 or newer; install it, or: go build -o bin/ ./cmd/..." >&2; exit 1; }
	cd web && npm ci --no-audit --no-fund && npm run build

test: ## all tests, with the race detector, on SQLite and PostgreSQL; installs what they need
	.ci/needs
	$(PG) go test -race -timeout 15m ./...
	$(PG) go test -count=1 -run '^TestAHangingEndpointDelaysNoOther$$' ./internal/server/notify # the whole burst: the race detector saw a part

test-web: build ## the dashboard's tests in a real browser, on both databases
	.ci/needs
	cd web && npm test
	$(PG) sh -c 'cd web && SVC_TEST_DATABASE="$$SVC_TEST_POSTGRES" npm test'

screenshots: build ## a picture of every page, light and dark, wide and narrow, in web/screenshots
	cd web && npm run screenshots

test-short: ## the tests that need neither PostgreSQL nor a browser
	env -u CI -u SVC_TEST_POSTGRES go test -short ./...

test-hosts: ## real agent hosts from npm against a scripted model; writes the matrix in docs/hosts.md
	SVC_TEST_HOSTS=$${SVC_TEST_HOSTS:-1} go test -count=1 -v -timeout 60m -run '^TestHosts' ./internal/hosttest

bench: ## the benchmarks, on both databases
	.ci/needs
	$(PG) go test -run '^$$' -bench . -benchmem ./...

conformance: ## the official MCP conformance suite and inspector against the tool endpoint
	go run -tags conformance ./internal/tools/withservice -- .ci/conformance/run

lint: ## gofmt, go vet, staticcheck; govulncheck where its database can be reached
	.ci/lint "$(TOOL)"
