# Daawo. `make help` lists the targets; begin with `make up`.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

BIN     := bin/daawo
MODULES := node_modules/.package-lock.json
SITE    := web/dist/index.html
ARCHIVE := supabase/internal/database/server/bundle/postgres.zip
EXTENSIONS := bin/extensions/.made
CLUSTER := bin/cluster/.made
COMPILED := bin/.compiled
# The program, the tools and the tests without the race detector are compiled in one form, so that the build cache has each
# package once instead of three times.
export CGO_ENABLED := 0
export GOFLAGS := $(filter-out -trimpath -tags=nodynamic,$(shell go env GOFLAGS 2>/dev/null)) -trimpath -tags=nodynamic
# Compilers are short-lived and have memory, so collecting garbage only costs them time: an eighth.
COMPILE := env GOGC=off GOMEMLIMIT=768MiB go build
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

# The source files of the program, and the files that it embeds: pages, SQL, places, migrations, seed.
SOURCES    := $(shell find supabase functions -type f -not -path '*/testdata/*' -not -path '*/.*' -not -path '$(ARCHIVE)') web/embed.go source.go go.mod go.sum
SITE_FILES := $(wildcard functions/submit-report/*.json) $(shell find web -type f -not -path 'web/dist/*' -not -path 'web/desk/dist/*' -not -path 'web/build/*' -not -path '*/node_modules/*' -not -path 'web/test*' -not -path 'web/playwright*')

## Run

.PHONY: up
up: build ## build what has changed and serve on http://127.0.0.1:54321 (Ctrl-C stops)
	@exec $(BIN) start

.PHONY: dev
dev: $(MODULES) $(CLUSTER) tools ## serve with hot reload of site and functions, behind the same address
	@exec go run ./supabase start --dev

.PHONY: stop
stop: ## stop a server that runs in the background
	@$(BIN) stop

## Build

.PHONY: build
build: $(BIN) ## bin/daawo: the site, the schema and this platform's Postgres in one file

$(BIN): $(SOURCES) $(SITE) $(ARCHIVE)
	@scripts/step.sh "building $@" $(COMPILE) -tags bundle,nodynamic -ldflags "-s -w -X main.version=$(VERSION)" -o $@ ./supabase

$(SITE): $(SITE_FILES) $(MODULES)
	@scripts/step.sh "building the site" npm run --silent build --workspace web
	@touch $@

$(ARCHIVE): $(CLUSTER)
	@scripts/step.sh "packing Postgres" go run ./supabase/internal/database/server/pack $@

# Without a C compiler or Debian's archive it says what is absent, and succeeds.
$(EXTENSIONS): $(MODULES) $(wildcard supabase/internal/database/server/compile/* supabase/internal/database/server/compile/postgis/* supabase/internal/database/server/compile/modules/*/*) | $(COMPILED)
	@scripts/step.sh "compiling extensions of Postgres" go run ./supabase/internal/database/server/compile
	@touch $@

.PHONY: postgres
postgres: $(MODULES) | $(COMPILED) ## compile Postgres itself, for speed: needs bison and flex, takes four minutes; make build packs it
	@scripts/step.sh "compiling Postgres" go run ./supabase/internal/database/server/compile -server
	@ls bin/extensions/*/native/bin/postgres && touch $(EXTENSIONS)

$(CLUSTER): $(EXTENSIONS) $(shell find supabase/internal/database/migrate/platform supabase/internal/database/extension supabase/internal/functions/host supabase/internal/functions/jobs supabase/internal/app/database -name '*.sql' -o -name '*.go')
	@scripts/step.sh "preparing a first start" go run ./supabase/internal/app/database/prepare
	@touch $@

# The build cache of the two tools above. With -j it fills while npm downloads.
$(COMPILED): go.mod go.sum
	@scripts/step.sh "compiling tools" $(COMPILE) ./supabase/internal/database/server/compile ./supabase/internal/app/database/prepare
	@mkdir -p $(@D) && touch $@

$(MODULES): package.json web/package.json package-lock.json
	@$(MAKE) --no-print-directory tools
	@scripts/step.sh "installing npm packages" npm ci --no-audit --no-fund --loglevel=error
	@touch $@

.PHONY: release
release: build ## archives for all platforms and their checksums in dist/
	@scripts/release.sh

.PHONY: tools
tools: # report missing programs and how to install them
	@scripts/check-tools.sh

## Check

.PHONY: check
check: $(MODULES) ## format, vet, staticcheck, types, lint
	@scripts/check.sh

.PHONY: quick
quick: $(MODULES) ## format, vet, lint and unit tests, in three minutes at most
	@scripts/quick.sh

# With PKG no program is built, because the Go tests need none. Otherwise the script builds it, beside its downloads.
.PHONY: test
test: $(if $(PKG),$(CLUSTER)) ## all tests: Go, the site, a browser, drills; LONG=1: every case, -race everywhere; PKG=./supabase/…: these Go tests
	@$(if $(PKG),scripts/test-go.sh $(PKG),scripts/test.sh)

.PHONY: test-go
test-go: $(CLUSTER) ## only the Go tests
	@scripts/test-go.sh

.PHONY: test-web
test-web: $(MODULES) ## only the unit tests of the site
	@npm run --silent test --workspace web

.PHONY: test-e2e
test-e2e: build ## only the browser tests, against their own stack
	@scripts/test-e2e.sh

.PHONY: test-contract
test-contract: build ## only the contract tests, against their own stack: directly, with separate services, with two servers
	@scripts/test-contract.sh

.PHONY: test-stack
test-stack: $(MODULES) ## only the contract tests, against any stack: SUPABASE_URL=… ANON_KEY=… SERVICE_ROLE_KEY=… PUBLISHABLE_KEY=… SECRET_KEY=…
	@npm exec --workspace web -- vitest run --config tests/stack/vitest.config.ts

.PHONY: docker-check
docker-check: ## run all stages of docker/Dockerfile without Docker, with a separate npm ci
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && go run ./scripts/image "$$dir/images"

.PHONY: differential
differential: ## compare auth and storage with the real servers: GOTRUE=PROGRAM|ADDRESS STORAGE=FOLDER|ADDRESS (15 minutes)
	@GOTRUE="$(GOTRUE)" go test ./supabase/internal/engine/auth/gotrue -run TestDifferential -count 1 -v -timeout 1h
	@STORAGE="$(STORAGE)" go test ./supabase/internal/engine/storage/standalone -run TestDifferential -count 1 -v -timeout 1h

.PHONY: realtime-golden
realtime-golden: ## compare changes of rows with the functions of the real Realtime, fed by Debian's wal2json (a minute)
	@export WAL2JSON_POSTGRES=$$(scripts/ensure-wal2json.sh) && \
	  GOLDEN=long go test ./supabase/internal/engine/realtime/changes -run TestGolden -count 1 -v -timeout 30m

.PHONY: test-hostile
test-hostile: build ## each request of each page fails, hangs or is cut, in both languages (a quarter of an hour)
	@LONG=1 REPORTS_PER_HOUR=100000 CHROMIUM_PATH=$$(scripts/ensure-chromium.sh) npm run --silent test:e2e --workspace web -- hostile.spec

.PHONY: bench
bench: build ## run the benchmarks; OLD=FILE prints what is worse than the last release's program
	@go run ./scripts/bench $(if $(OLD),-old $(OLD))
	@go test -run '^$$' -bench TwelveUsers -benchtime 1x ./supabase/internal/functions/host

.PHONY: drill
drill: build ## test failures: kills, outages, slow clients (minutes)
	@go run ./scripts/drill
	@scripts/fuzz.sh 1m

.PHONY: soak
soak: build ## run an hour of mixed load, and fuzz each parser for ten minutes
	@go run ./scripts/drill -soak 1h soak
	@scripts/fuzz.sh 10m

.PHONY: test-desk-apart
test-desk-apart: build ## the desk's browser tests through a gateway in front of separate services (4 minutes)
	@scripts/test-desk-apart.sh

.PHONY: drill-cluster
drill-cluster: build ## kill and disconnect the primary of a Patroni cluster under load (root, Debian; 15 minutes; SHORT=1: 4)
	@scripts/ensure-cluster.sh
	@go run ./scripts/drill $(if $(SHORT),-short) cluster

.PHONY: corpus
corpus: build ## start public Supabase projects, fetched into a cache, and report which start (network; 6 minutes)
	@go run ./scripts/corpus

.PHONY: postgres-check
postgres-check: build ## run an archive with the layout of Supabase's Postgres in a bare Debian 13 (root, debootstrap, network; minutes)
	@scripts/postgres-check.sh

.PHONY: studio-check
studio-check: build ## walk through the pages of the real Studio; STUDIO=FILE: its archive, otherwise it is downloaded (minutes)
	@STUDIO="$(STUDIO)" scripts/studio-check.sh

.PHONY: newcomer
newcomer: build ## the docs' first hour in bare Debian 12 and 13 (root, debootstrap, network; 30 minutes; DEBIAN=bookworm: one)
	@scripts/newcomer.sh $(DEBIAN)

.PHONY: clean
clean: ## remove built files; data stays
	@rm -rf bin web/build $(ARCHIVE)
	@find web/dist web/desk/dist -mindepth 1 -not -name .keep -delete

.PHONY: help
help: ## this list
	@awk 'BEGIN { FS = ":.*## " } \
	  /^## / { printf "\n%s\n", substr($$0, 4) } \
	  /^[a-z0-9-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile
	@printf '\n  bin/daawo --help explains the program.\n'
