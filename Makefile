# make          lists the targets
VERSION := $(shell git describe --tags --dirty --match 'v[0-9]*' 2>/dev/null || echo 0.0.0-dev)
MODULE  := github.com/svc-hq/svc
# The public keys that svc update trusts, as id=base64, comma-separated (release keygen prints one).
RELEASE_KEYS ?=
LDFLAGS := -s -w -X $(MODULE)/internal/core/version.Version=$(VERSION:v%=%) -X $(MODULE)/internal/client/selfupdate.releaseKeys=$(RELEASE_KEYS)
# Agents start svc at every edit: linked statically it need not load the C library first.
STATIC  := $(if $(wildcard $(shell $${CC:-cc} -print-file-name=libc.a 2>/dev/null)),-extldflags=-static)
ADDR    ?= 127.0.0.1:7780
DATA    ?= .data
OWNER   ?= owner@localhost
PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
PG      := go run ./internal/tools/pgrun --
# Not in SQLite itself, C turned into Go: its memory is outside of what the detector watches, and it took two thirds of the tests' time.
RACE    := -race -gcflags=std=-dwarf=false $(foreach c,modernc.org/sqlite/lib modernc.org/libc modernc.org/memory,'-gcflags=$(c)=-race=false -dwarf=false')
# Watched by the race detector, which makes tests four times as dear: what starts goroutines or takes locks (internal/raced_test.go
# holds this list to the code), and with it the whole service, in rest (every operation), daemon, notify and ops/moments (many at
# once). Not watched: what is pure (core and all that reads code), and what plays the same service again, one request after the
# other (stories, mcpserver, most of ops) or in processes of their own (e2e).
RACED   := $(addprefix ./internal/,client/attend/... client/local/... client/backtest client/bridge/... client/cli/... client/companion/... client/gitrepo client/gitrepo/odb client/grammar/... \
	client/hook client/hook/post client/hook/record client/hook/spool client/login/... client/lsp/... client/mergecheck/... client/outline/... client/rules/... client/watchtree/... \
	server/api/... server/auth/... server/daemon/... server/eventlog/... server/githost/... server/jobs/... server/live/... server/memory/... \
	server/notify/... server/ops/moments/... server/ops/money/... server/ops/work/... server/outbound/... \
	server/rest/... server/ship/... server/store/... server/vault/... core/shape/... \
	server/leases/... server/edge/... server/treewatch/... badline/...)
# Run without it, too: what it need not watch is left to that run, which are walks on PostgreSQL (storetest.EachWalk) and files for !race.
TWICE   := ./internal/server/rest ./internal/client/hook/post
# A program under the detector waits a second before it exits, and tests start many.
export GORACE ?= atexit_sleep_ms=10
comma   := ,
# One set of tags for all that is built here: with others, the standard library's net and all that imports it, which is
# nearly everything, would be compiled once more. netgo and osusergo leave out the C of the system's resolver. prebuilt takes the
# grammars' C as the repository has it compiled, which make test-grammars compares with what their sources make.
ifeq ($(findstring -tags,$(GOFLAGS)),)
export GOFLAGS := $(strip $(GOFLAGS) -tags=netgo$(comma)osusergo$(addprefix $(comma),$(shell .ci/build-parser --link 2>/dev/null)))
endif
# A hundred programs are linked to test, most of them for less than a second's use: without tables for a debugger, in half the time.
export GOFLAGS := $(if $(findstring -ldflags,$(GOFLAGS)),$(GOFLAGS),$(GOFLAGS) -ldflags=-s)
# Nor need compilers write those, a twentieth of what they take. Of the standard library they do, which merged work is compiled with, too.
export GOFLAGS := $(if $(findstring -gcflags,$(GOFLAGS)),$(GOFLAGS),$(GOFLAGS) -gcflags=all=-dwarf=false -gcflags=std=)
# Without the folder in what is compiled: other clones, and clients and merged work that are compiled in temporary folders, share it.
export GOFLAGS := $(if $(findstring -trimpath,$(GOFLAGS)),$(GOFLAGS),$(GOFLAGS) -trimpath)
# Compilers live for seconds: collecting garbage less often spares a seventh of their time. Not for what is built: a server stays.
COMPILE := GOGC=$(or $(GOGC),400) go
DIST    := internal/server/dashboard/dist/index.html
NODE    := web/node_modules/.package-lock.json

.PHONY: help run demo build grammars test test-go test-raced test-calm times once-web once-others compile-tests clients test-clients test-checkers test-grammars test-kept test-parsers test-release test-web test-scale test-short test-hosts test-editors test-prometheus screenshots mutants chaos soak bench proof contracts breaks release image conformance lint
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

run: build ## build and start the service on SQLite in .data, with an owner account
	bin/svcd serve --addr $(ADDR) --data $(DATA) --owner $(OWNER)

demo: build ## four scripted agents collide; under a minute, offline, leaves nothing behind
	bin/svc demo

build: $(if $(wildcard web/package.json),$(DIST)) ## build bin/svc and bin/svcd
	$(COMPILE) build -ldflags '$(LDFLAGS)' -o bin/ ./cmd/svcd
	.ci/build-svc bin/svc --svcd bin/svcd -ldflags '$(LDFLAGS) $(STATIC)'

$(DIST): $(NODE) $(shell find web -maxdepth 1 -type f 2>/dev/null) $(shell find web/src web/public web/build -type f -not -name '*.gen.ts' 2>/dev/null)
	cd web && npm run build

$(NODE): web/package.json web/package-lock.json
	@command -v npm >/dev/null || { echo "the dashboard needs Node.js 20 or newer; install it, or: go build -o bin/ ./cmd/..." >&2; exit 1; }
	cd web && npm ci --no-audit --no-fund

test: ## all tests, with the race detector, on SQLite and PostgreSQL; installs what they need, passes over what passed before (AGAIN=1: does not)
	.ci/needs
	$(MAKE) build
	$(MAKE) once-web once-others test-go

once-web: ## make test-web, unless it passed before with the same inputs: for tests of the page alone the page and the shapes of answers
	.ci/once test-service web ./cmd/svcd ./internal/tools/rig -- $(MAKE) test-web PART=--service
	.ci/once test-pages web internal/core internal/server/api internal/server/dashboard -- $(MAKE) test-web PART=--pages

once-others: ## the same for make test-grammars and test-clients: for the grammars what they read, for clients the API's shapes and doors
	.ci/once grammars internal/client/grammar internal/client/analysis/testdata go.mod .ci/needs .ci/build-parser .ci/sanitize-grammars .ci/build-grammars .ci/grammars -- \
		$(MAKE) test-parsers
	.ci/once test-clients .ci/clients .ci/make-clients clients web/package-lock.json internal/core internal/server/api internal/server/rest \
		internal/server/daemon internal/tools/openapi internal/tools/withservice -- $(MAKE) test-clients

compile-tests: ## what make test-go runs, compiled and not run
	$(COMPILE) list $(RACE) -test -export -f '' $(RACED) >/dev/null
	$(COMPILE) list -test -export -f '' $(CALM) >/dev/null

test-go: ## the tests in Go: all of make test but browser, grammars and clients, which can run apart
	.ci/needs
	$(MAKE) $(NODE) $(DIST)
	.ci/in-memory $(PG) $(MAKE) -k test-raced test-calm
	SVC_TEST_CHECKERS=tsc $(GOTEST) -run '^TestCheckers$$/^tsc|Stays' ./internal/client/mergecheck # the others' ran before
	$(PG) env $(GOTEST) -run '^TestAHangingEndpointDelaysNoOther$$' ./internal/server/notify # the whole burst: the race detector saw a part

# Tests live for seconds and are small: a third of their time went to collecting garbage that nobody needed back.
GOTEST  := GOGC=400 go test -p 3 -vet=off -timeout 30m $(if $(AGAIN),-count=1) # make lint vets more
CALM    = $(filter-out $(shell go list $(RACED)),$(shell go list ./...)) $(TWICE)

test-raced: ## a part of make test-go: with the race detector, where there is concurrency; PostgreSQL is the caller's
	$(GOTEST) $(RACE) $(RACED)

test-calm: ## the other part: without it
	$(GOTEST) $(CALM)

times: ## where the processor time of a cold build and of the tests in Go goes; half an hour
	go run ./internal/tools/times -cold -- $(MAKE) build
	go run ./internal/tools/times -- $(MAKE) test-go AGAIN=1

clients: $(NODE) ## write the types of the clients that ship, from the API's document
	.ci/make-clients clients

test-clients: $(NODE) ## clients made of the API's document, in Go and TypeScript: they compile, and call a service
	go run ./internal/tools/withservice -- .ci/clients/run

test-checkers: $(NODE) ## merged work before the real tsc, mypy, pyright, cargo and javac; installs them
	.ci/test-checkers

grammars: ## compile the grammars anew for this system and for WebAssembly, for builds to take
	.ci/needs
	.ci/build-parser --keep
	.ci/build-grammars --keep

test-grammars: test-kept test-parsers ## kept grammars are what their sources make; under AddressSanitizer; the same trees from WebAssembly

# What is kept compiled is compared with what its sources make. .ci/run does that, which nobody else need wait four minutes for: it
# changes with go.sum, and whoever builds makes sure that it was made of what go.sum names.
test-kept:
	.ci/needs
	.ci/once kept internal/client/grammar/prebuilt internal/client/grammar/wasm/prebuilt go.mod go.sum .ci/needs .ci/build-parser .ci/build-grammars .ci/grammars -- \
		sh -c '.ci/build-parser --check && .ci/build-grammars --check'

# Whatever is found in code is found in these trees: that they are the same, byte for byte, is what is tested.
test-parsers:
	.ci/needs
	.ci/sanitize-grammars
	.ci/build-grammars
	SVC_TEST_GRAMMARS=1 $(GOTEST) -count=1 ./internal/client/grammar/wasm
	CGO_ENABLED=0 $(GOTEST) ./internal/client/grammar

test-release: $(if $(wildcard web/package.json),$(DIST)) ## makes releases for this machine and installs, updates and tampers with them
	.ci/test-release

test-web: ## the dashboard's tests in a real browser, on both databases
	.ci/needs
	$(MAKE) build
	go build -o bin/ ./internal/tools/rig
	$(PG) sh -c 'cd web && npm test -- $(PART)'

test-scale: build ## how the dashboard's lists scroll with 5,000 intents and 1,000 agents; wants a quiet machine
	.ci/needs
	cd web && SVC_TEST_SMOOTH=1 npm test scale

screenshots: build ## a picture of every page, light and dark, wide and narrow, in web/screenshots
	go build -o bin/ ./internal/tools/rig
	cd web && npm run screenshots

# The rooms of the product, the server's first, since they take longest, without the dear tests (.ci/dear). Programs that are linked for
# less than they tell are left to make test.
SHORT   = $(filter-out $(MODULE)/internal/tools/% $(addprefix %/,e2e hosttest daemontest await badline chance childtest doctable gittest history),$(shell go list ./internal/server/... ./internal/...))

test-short: ## the inner loop: the tests that need nothing installed, without the dear ones; a minute and a half once all is compiled
	@.ci/in-memory env -u CI -u SVC_TEST_POSTGRES GOGC=400 go test -short -p 4 -vet=off $(if $(AGAIN),-count=1) \
		-skip "$$(sed -n 's|/|$$/^|; s|^[A-Z].*|^&$$|p' .ci/dear | paste -sd '|')" $(SHORT)

test-hosts: ## real agent hosts from npm against a scripted model; writes the matrix in docs/hosts.md
	SVC_TEST_HOSTS=$${SVC_TEST_HOSTS:-1} go test -count=1 -v -timeout 60m -run '^TestHosts' ./internal/hosttest
	go test ./internal/client/setup -run Page -update >/dev/null # the page of each host has its row

test-editors: $(NODE) ## others' work in a real Neovim, Emacs and VS Code, headless; installs them with apt and npm where it may
	@command -v nvim >/dev/null || apt-get install -y --no-install-recommends neovim
	@command -v emacs >/dev/null || apt-get install -y --no-install-recommends emacs-nox elpa-eglot
	go test -count=1 -timeout 30m -tags editors$(comma)netgo$(comma)osusergo -run '^Test(Neovim|Emacs|VSCodeItself)' ./internal/e2e

test-prometheus: ## metrics, dashboard and alert rules before a real Prometheus; installs it with apt where it may
	@command -v promtool >/dev/null || apt-get install -y --no-install-recommends prometheus
	promtool check rules packaging/prometheus/svc.rules.yml
	go test -count=1 -tags prometheus -run '^TestPrometheus' ./internal/server/daemon

proof: ## the figures of docs/lab/backtest.md; MIRRORS=folder with mirrors as owner/name.git
	go run ./internal/tools/proof $(MIRRORS)

contracts: ## the figures of docs/lab/contracts.md; TRUTH=folder with the tables, MIRRORS=folder with mirrors as owner/name.git
	go run ./internal/tools/contracts $(TRUTH) $(MIRRORS)

breaks: ## breaking and compatible changes played through real hooks; TRUTH= and MIRRORS= as above, a quarter of an hour
	go run ./internal/tools/breaks $(TRUTH) $(MIRRORS)

mutants: ## small mistakes that no test notices; half an hour, PART=engine for one part
	go run ./internal/tools/mutants $(if $(PART),-only $(PART))

chaos: build ## svcd, three replicas and PostgreSQL broken under load: nothing acknowledged is lost; and the controls that must fail
	.ci/needs
	go build -tags netgo,osusergo,trusting -o bin/svcd-trusting ./cmd/svcd
	go build -o bin/chaos ./internal/tools/chaos
	go test ./internal/tools/sim -run Histories -seeds 1000 -operations 1000 -timeout 6h
	bin/chaos kills frozen faults
	go run ./internal/tools/pgrun -- go test ./internal/server/edge -run Histories -decisions 100000 -timeout 2h
	go test ./internal/e2e -run KilledAndFrozen -decisions 10000 -timeout 2h
	go test ./internal/server/stories -run 'Sequence|Searcher' -search.depth 4 -search.states 0 -v -timeout 4h
	bin/chaos -faults 0 pairs
	bin/chaos far
	if [ "$$(id -u)" = 0 ]; then bin/chaos full; else echo "without the full disk: it takes root"; fi
	! bin/chaos -kills 2 -control kills
	! bin/chaos -control frozen
	! bin/chaos -faults 2 -pairs 50 -control faults
	! bin/chaos -faults 0 -pairs 200 -svcd bin/svcd-trusting pairs
	! bin/chaos -pairs 200 -svcd bin/svcd-trusting far

soak: build ## 1,000 agents at four edits a minute and 200 streams on one svcd, ten minutes (FOR=1m for less); wants a quiet machine
	go run ./internal/tools/soak -for $(or $(FOR),10m)

bench: ## the benchmarks, on both databases
	.ci/needs
	go run ./internal/tools/pgrun -durable -- go test -run '^$$' -bench . -benchmem ./...

release: $(if $(wildcard web/package.json),$(DIST)) ## dist/: all that is published of a version, signed with RELEASE_KEY; docs/releasing.md
	@test -f "$(RELEASE_KEY)" || { echo "make release needs RELEASE_KEY=file (go run ./internal/tools/release keygen -id 2027a -out file) and a version tag" >&2; exit 1; }
	RELEASE_KEY=$(RELEASE_KEY) RELEASE_KEYS=$(RELEASE_KEYS) VERSION=$(VERSION) PLATFORMS="$(PLATFORMS)" .ci/release dist

image: build ## the container image svc:VERSION, with buildah, podman or docker
	.ci/image bin/svcd svc:$(VERSION:v%=%)

conformance: ## the official MCP conformance suite and inspector against the tool endpoint
	go run -tags netgo,osusergo,conformance ./internal/tools/withservice -- .ci/conformance/run

lint: $(if $(wildcard web/package.json),$(DIST)) ## gofmt, go vet, staticcheck, tsc; govulncheck where its database can be reached
	.ci/lint
