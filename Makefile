# Tools, each at one version. They are built from the Go module proxy into bin/tools.
OPA_VERSION      := v1.22.0
GOLANGCI_VERSION := v2.15.0
NFPM_VERSION     := v2.45.0
SBOM_VERSION     := v1.10.0

GO      ?= go
BIN     := bin
TOOLS   := $(BIN)/tools
OPA     := $(TOOLS)/opa-$(OPA_VERSION)
LINT    := $(TOOLS)/golangci-lint-$(GOLANGCI_VERSION)
NFPM    := $(TOOLS)/nfpm-$(NFPM_VERSION)
SBOM    := $(TOOLS)/cyclonedx-gomod-$(SBOM_VERSION)
CLIENTS := $(BIN)/mcp-clients
OPAWASM := $(BIN)/opa-wasm
COVER   := coverage.out
FUZZTIME ?= 1000x
SHELL   := bash
.SHELLFLAGS := -o pipefail -c
LDFLAGS := -s -w
# OPA's own tag: without registries of images as a source of bundles, which no configuration can name.
TAGS    := opa_no_oci
PREFIX  ?= /usr/local
COMMANDS := $(notdir $(wildcard cmd/*))
PROGRAMFILES = $(addprefix $(BIN)/,$(COMMANDS) sallyport-full)

.DEFAULT_GOAL := help
.PHONY: help build install images demo test test-all programs serial rego-test race bench questions confirm mutate
.PHONY: faults bombs names races variants deferred projects fuzz lint cover cross release generate clean
.PHONY: kubernetes-test scale mcp-clients opa-wasm

help: ## show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build the programs into bin: sallyport, sallyport-supervisor and what belongs to them
	$(GO) build -trimpath -tags '$(TAGS)' -ldflags '$(LDFLAGS)' -o $(BIN)/sallyport-full ./cmd/sallyport
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN)/sallyport ./internal/front
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN)/ $(patsubst %,./cmd/%,$(filter-out sallyport,$(COMMANDS)))

# As root it installs what is there: Go's caches stay those of the user who has built it.
install: $(if $(filter-out $(wildcard $(BIN)/*),$(PROGRAMFILES)),build) ## install the programs into PREFIX/bin (default /usr/local/bin), below DESTDIR if set
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(PROGRAMFILES) $(DESTDIR)$(PREFIX)/bin/

images: build ## build the runtime images on a base of Debian's packages (needs a Docker engine, debootstrap, root)
	@as=""; [ "$$(id -u)" = 0 ] || as="sudo -E"; $$as $(BIN)/sallyport image build --sudo --base debootstrap

demo: build ## run a short tour in a temporary folder
	@docs/demo.sh $(BIN)/sallyport

# report prints a line for each package, one for each cause of skipped tests, and failures last.
report = $(GO) run ./internal/leftout/report -skipped $(BIN)/skipped-$(1).txt -failed $(BIN)/failed$(if $(filter cover kubernetes,$(1)),-$(1)).txt
# These start our programs, built without the race detector, and try what commands and engines do.
PROGRAMS := cmd/sallyport|internal/front|internal/endtoend|internal/mcpclients|internal/baddays|internal/escapes|internal/programs|internal/bench|internal/architecture

TESTED ?= ./...
RUN    ?=
test: build rego-test ## run the tests that need neither root nor Docker, npm or a long time
	@rm -f $(BIN)/failed.txt
	@$(GO) test -json -short -timeout 30m $(if $(RUN),-run '$(RUN)') $(TESTED) | $(call report,test)

test-all: build rego-test ## run all tests, those with goroutines under the race detector, and fuzz for a while: on a throw-away machine
	@rm -f $(BIN)/failed.txt; status=0; for part in programs serial race faults "fuzz FUZZSEED=1"; do $(MAKE) --no-print-directory $$part || status=1; done; exit $$status

programs: build $(OPA) ## run all tests that start our programs, one package at a time (RUN: those of this pattern)
	@$(GO) test -json -p 1 -timeout 60m $(if $(RUN),-run '$(RUN)') $$($(GO) list ./... | grep -E '/($(PROGRAMS))$$') | $(call report,programs)

CLUSTER ?= $(BIN)/cluster
kubernetes-test: build ## run the tests of pods in a cluster of one node, which it builds once, into CLUSTER (root, Debian)
	@rm -f $(BIN)/failed-kubernetes.txt
	@runners/kubernetes/testdata/cluster $(CLUSTER) run \
	  $(GO) test -json -count=1 -timeout 40m -run '^TestCluster' ./runners/kubernetes | $(call report,kubernetes)

SESSIONS ?= 1000
NODES ?= 50
scale: build ## measure SESSIONS sessions on NODES nodes without machines, in that cluster (docs/scale.md)
	@runners/kubernetes/testdata/cluster $(CLUSTER) run runners/kubernetes/testdata/scale $(CLUSTER) $(SESSIONS) $(NODES)

rego-test: $(OPA) ## check and test the policies with the stock opa
	$(OPA) check --strict --ignore testdata,compiled -s policies/schemas/input.json policies/
	$(OPA) fmt --list --fail policies/
	$(OPA) test --fail-on-empty --ignore testdata,compiled policies/

mcp-clients: ## install the clients and the witness that tests drive, at their pinned versions (needs npm)
	@mkdir -p $(CLIENTS)
	cp internal/mcpclients/testdata/npm/package.json internal/mcpclients/testdata/npm/package-lock.json internal/mcpclients/testdata/npm/.npmrc $(CLIENTS)/
	cd $(CLIENTS) && npm ci --loglevel=error
	cd internal/mcpclients/testdata/gosdk && $(GO) build -o /dev/null .
	cd engine/audit/publish/testdata/witness && $(GO) build -o /dev/null .

opa-wasm: ## install OPA's SDK for Node, by which a test evaluates the compiled rules (needs npm)
	@mkdir -p $(OPAWASM)
	cp testdata/opa-wasm/package.json testdata/opa-wasm/package-lock.json testdata/opa-wasm/.npmrc $(OPAWASM)/
	cd $(OPAWASM) && npm ci --loglevel=error

# These packages start no goroutine of their own.
SERIAL   := cmd/sallyport-verify|engine/(commands|config|facts.*|lazyregexp|obeyed|redact|shell.*)|images|internal/(confirm.*|docstring|filetools|leftout.*|release.*|setup|show)|policies.*|runners/(envfile|mounts|seccomp)
serial: $(OPA) ## run all tests of packages without goroutines (RUN: those of this pattern)
	@$(GO) test -json -timeout 60m $(if $(RUN),-run '$(RUN)') $$($(GO) list ./... | grep -E '/($(SERIAL))$$') | $(call report,serial)

# These compare results of code that other tests run under the race detector. With it they take ten times as long.
# make faults has TestEveryEdit and TestEveryBitFlip.
WITHOUT_RACE := IndexedJudgesAlike|WaitingFindsNothing|StockOPA|UnitTestsOfBuiltinPolicies
# The compiler of WebAssembly shares nothing between goroutines. It is where tests would spend most of their time.
COMPILER := github.com/tetratelabs/wazero/internal/engine/wazevo
PLAIN    := $(foreach part,backend frontend ssa,-gcflags=$(COMPILER)/$(part)/...=-race=false)
race: $(OPA) ## run all other tests, under the race detector but for WITHOUT_RACE
	@{ $(GO) test -json -timeout 60m -run '^Test($(WITHOUT_RACE))$$' ./engine/rego; status=$$?; \
	  CGO_ENABLED=1 $(GO) test -json -race $(PLAIN) -timeout 60m -vet=off -skip '^Test($(WITHOUT_RACE)|Every(Edit|BitFlip))$$' \
	    $$($(GO) list ./... | grep -vE '/($(PROGRAMS)|$(SERIAL))$$') && [ $$status = 0 ]; } | $(call report,race)

bench: build $(OPA) ## measure, as ratios against a named baseline in the same run
	SALLYPORT_BIN=$(CURDIR)/$(BIN)/sallyport OPA_BIN=$(CURDIR)/$(OPA) CLIENTS_DIR=$(CURDIR)/$(CLIENTS) $(GO) test -run '^$$' -bench . -benchtime 3s ./internal/bench ./policies ./engine/shell/walk ./runners/boundary

questions: mcp-clients build ## count the questions of a day of 30 tasks with real agents
	$(GO) test -count=1 -v -run '^TestDay$$' ./internal/mcpclients -day.tasks 30 | grep -v '^=== '

CONFIRM_COUNT ?= 100000
CONFIRM_SEED  ?= 0
confirm: ## run CONFIRM_COUNT programs with bash in a sandbox and compare what engine/shell/walk lists (CONFIRM_SEED=0: any seed)
	$(GO) test -count=1 -v -timeout 12h -run '^TestConfirm$$' ./internal/confirm -confirm.rates \
	  -confirm.count=$(CONFIRM_COUNT) -confirm.seed=$(CONFIRM_SEED)

MUTANTS    ?=
mutate: ## change each place of the built-in policies (MUTANTS=sallyport/rules/git: of files with this prefix) and list the changes that no test notices
	$(GO) test -count=1 -v -timeout 2h -run '^TestMutants$$' ./policies -mutants.count=0 -mutants.of=$(MUTANTS)

FAULTS     ?= 10000
FAULTSEED  ?= 1
faults: ## make FAULTS runs of the audit log with failing system calls, kills and power cuts, and edit a log in every way
	@mkdir -p $(BIN); $(GO) test -json -count=1 -timeout 60m -run '^Test((Random)?Faults|Every(Edit|BitFlip))$$' ./engine/audit \
	  -faults.count=$(FAULTS) -faults.seed=$(FAULTSEED) | $(call report,faults)

TRIES      ?= 100000
names: ## exchange paths, directories and descriptors under TRIES calls that make names (runners/notify), and signal under TRIES opens
	@mkdir -p $(BIN); $(GO) test -json -count=1 -timeout 60m -run '^Test(Swap|Opens)' ./runners/notify -notify.tries=$(TRIES) | $(call report,names)

COUNT      ?= 10
bombs: ## let COUNT bombs of each kind go off in each environment (internal/baddays)
	@mkdir -p $(BIN); $(GO) test -json -count=$(COUNT) -timeout 120m -run '^TestBombs$$' ./internal/baddays | $(call report,bombs)

RACES      ?= 1000000
races: ## start RACES programs with words and paths that change while they are judged (runners/starter)
	@$(GO) test -count=1 -v -timeout 12h -run '^TestRaces$$' ./runners/starter -starter.races=$(RACES) | grep -v '^=== '

VARIANTS   ?= 20000
variants: ## start destructive programs in VARIANTS disguises, in throw-away roots, with programs judged and unseen
	@$(GO) test -count=1 -v -timeout 12h -run '^TestVariants$$' ./internal/programs -programs.variants=$(VARIANTS) | grep -v '^=== '

deferred: ## run the texts of CORPUS (files, separated by commas) that are allowed for the sake of judged programs, and count
	@$(GO) test -count=1 -v -timeout 12h -run '^TestDeferred$$' ./internal/programs -programs.corpus=$(CORPUS) | grep -v '^=== '

projects: build ## build and test real projects with their programs judged (needs registries; PROJECT=hello: of this name)
	@internal/programs/projects.sh $(BIN)/sallyport $(PROJECT)

# A number of inputs, unlike a time, is the same on a busy machine. A time (FUZZTIME=1h) that runs out while a worker
# is busy may count as a failure without an input (golang.org/issue/75804). With a seed, the inputs depend on the tree
# alone, as far as Go allows: a change is not refused for a defect that another run would have missed.
fuzz: ## run every fuzz target with FUZZTIME inputs (default 1000x), from FUZZSEED if set
	@mkdir -p $(BIN); status=0; bin=$(CURDIR)/$(BIN); seeded=; cache=$$($(GO) env GOCACHE)/fuzz; \
	if [ -n "$(FUZZSEED)" ]; then export GODEBUG=fuzzseed=$(FUZZSEED); seeded="-test.parallel 1"; cache=$$bin/fuzz-cache; rm -rf $$cache; fi; \
	for pkg in $$(grep -rl '^func Fuzz' --include='*_test.go' --exclude-dir=testdata --exclude-dir=bin . | xargs -n 1 dirname | sort -u); do \
	  $(GO) test -c -fuzz . -vet=off -o $$bin/fuzz.test $$pkg || { echo "FAIL $$pkg: build" >>$$bin/failed.txt; status=1; continue; }; \
	  for f in $$(cd $$pkg && $$bin/fuzz.test -test.list '^Fuzz'); do \
	    echo "== $$pkg $$f"; \
	    (cd $$pkg && $$bin/fuzz.test -test.run '^$$' -test.fuzz "^$$f\$$" -test.fuzztime $(FUZZTIME) -test.fuzzminimizetime 10x $$seeded \
	      -test.fuzzcachedir $$cache/$$pkg </dev/null) >$$bin/fuzz.log 2>&1 || { { echo "FAIL $$pkg $$f"; cat $$bin/fuzz.log; } >>$$bin/failed.txt; status=1; }; \
	    cat $$bin/fuzz.log; \
	  done; \
	done; exit $$status

lint: $(LINT) ## gofmt and golangci-lint, which runs vet
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); exit 1; }
	$(LINT) run

cover: ## measure the engine's statement coverage by its tests and those of policies and plugins; fails below 85 %
	@rm -f $(BIN)/failed-cover.txt
	@$(GO) test -json -short -timeout 30m -coverprofile=$(COVER) -coverpkg=./engine/... ./engine/... ./policies/... ./plugins/... | $(call report,cover)
	@total=$$($(GO) tool cover -func=$(COVER) | sed -n 's/^total:.*[^0-9.]\([0-9.]*\)%$$/\1/p'); \
	  echo "$$total % of the statements"; [ "$${total%.*}" -ge 85 ]

CROSS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
CROSSED ?= ./...
cross: ## compile the packages CROSSED (default all) for linux, darwin and windows on amd64 and arm64
	@for at in $(CROSS); do \
	  echo "$$at"; GOOS=$${at%/*} GOARCH=$${at#*/} CGO_ENABLED=0 $(GO) build -o /dev/null $(CROSSED) || exit 1; \
	done

release: $(NFPM) $(SBOM) ## build archives, packages, images and checksums of VERSION into dist (PLATFORMS: linux/amd64 ...)
	NFPM=$(CURDIR)/$(NFPM) SBOM=$(CURDIR)/$(SBOM) VERSION='$(VERSION)' PLATFORMS='$(PLATFORMS)' packaging/release

generate: ## write generated files anew: schemas, rule and configuration documents
	$(GO) generate ./...
	$(GO) test -count=1 ./policies -run TestRulesDocument -update
	$(GO) test -count=1 ./engine/config -update
	$(GO) test -count=1 ./engine/commands -run TestIndexIsOfTheFiles -update

clean: ## remove what was built
	rm -rf $(BIN) dist $(COVER)

$(OPA):
	@mkdir -p $(TOOLS)
	GOBIN=$(CURDIR)/$(TOOLS) $(GO) install github.com/open-policy-agent/opa@$(OPA_VERSION)
	@mv $(TOOLS)/opa $@

$(LINT):
	@mkdir -p $(TOOLS)
	GOBIN=$(CURDIR)/$(TOOLS) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	@mv $(TOOLS)/golangci-lint $@

$(NFPM):
	@mkdir -p $(TOOLS)
	GOBIN=$(CURDIR)/$(TOOLS) $(GO) install github.com/goreleaser/nfpm/v2/cmd/nfpm@$(NFPM_VERSION)
	@mv $(TOOLS)/nfpm $@

$(SBOM):
	@mkdir -p $(TOOLS)
	CGO_ENABLED=0 GOBIN=$(CURDIR)/$(TOOLS) $(GO) install -trimpath github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@$(SBOM_VERSION)
	@mv $(TOOLS)/cyclonedx-gomod $@
