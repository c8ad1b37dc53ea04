# Two of these do all the set-up on a fresh machine: run and test.
SHELL := /bin/bash
.DEFAULT_GOAL := help
GO ?= go
TEMPL := $(GO) tool templ

FUZZTIME ?= 20000x
SOAK ?= 10m

.PHONY: help
help: ## Show what there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: build ## Build and serve the demo workforce on http://127.0.0.1:8080, no API key needed
	./bin/postroom serve $(ARGS)

.PHONY: build
build: ## Build the one binary, bin/postroom
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/postroom .

.PHONY: test
test: node_modules/.installed browser drift vet ## Check everything that CI checks
	node --test static/test/*.test.mjs
	$(GO) test -race -shuffle=on -timeout 10m ./...
	$(MAKE) fuzz FUZZTIME=2000x

.PHONY: vet
vet: ## Vet the code and its format
	@unformatted="$$(gofmt -l $$(git ls-files '*.go'))"; if [ -n "$$unformatted" ]; then echo "gofmt wants: $$unformatted"; exit 1; fi
	$(GO) vet ./...

.PHONY: lint
lint: ## Run golangci-lint as configured
	$(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0 run

.PHONY: fmt
fmt: ## Format the code and the templates
	$(TEMPL) fmt views
	gofmt -w $$(git ls-files '*.go')

.PHONY: generate
generate: ## Make the Go code of the templates anew
	$(TEMPL) generate

.PHONY: drift
drift: ## Fail when the generated code is stale
	@before="$$(git ls-files -s '*_templ.go' | git hash-object --stdin; cat $$(git ls-files '*_templ.go') | git hash-object --stdin)"; \
	$(TEMPL) generate -log-level error; \
	after="$$(git ls-files -s '*_templ.go' | git hash-object --stdin; cat $$(git ls-files '*_templ.go') | git hash-object --stdin)"; \
	if [ "$$before" != "$$after" ]; then echo "the generated templates were stale: commit what 'make generate' made"; exit 1; fi

.PHONY: bench-routing
bench-routing: ## Measure how well posts are placed; POSTROOM_ROUTING_DATA names the folder
	$(GO) test -count=1 -run RoutingData -v ./domain/model/learned

.PHONY: bench
bench: ## Run the benchmarks, each beside its baseline, and print them as one table
	@{ $(GO) test -run '^$$' -bench 'Post$$' -benchtime 15000x ./web; \
	$(GO) test -run '^$$' -bench 'FanOut' -benchtime 60x ./web/live; \
	$(GO) test -run '^$$' -bench 'IdleSocket' -benchtime 1x ./web/live; \
	$(GO) test -run '^$$' -bench 'MailboxPage|PageOf200' -benchtime 300x ./web; \
	$(GO) test -run '^$$' -bench 'Start' -benchtime 10x ./web; \
	$(GO) test -run '^$$' -bench 'Decision' -benchtime 20000x ./domain/seat; \
	$(GO) test -run '^$$' -bench 'RoutedDesk' -benchtime 1x ./domain/seat; \
	cd domain/agent/eino && $(GO) test -run '^$$' -bench . -benchtime 3000x .; } | awk '\
		BEGIN { print "| benchmark | ms each | beside |"; print "| --- | ---: | --- |" } \
		/^Benchmark/ { sub(/-[0-9]+$$/, "", $$1); sub(/^Benchmark/, "", $$1); rest = ""; \
			for (i = 5; i < NF; i += 2) rest = rest (rest == "" ? "" : ", ") $$i " " $$(i + 1); \
			printf "| %s | %.3f | %s |\n", $$1, $$3 / 1e6, rest; fflush() } \
		/^(FAIL|panic)/ { print; failed = 1 } END { exit failed }'

.PHONY: soak
soak: ## Mix posts, reads, sockets, kills and restarts for SOAK [10m]
	POSTROOM_SOAK=$(SOAK) $(GO) test -race -run '^TestSoak$$' -count 1 -v -timeout 40m ./web/cli

.PHONY: fuzz
fuzz: ## Fuzz each parser, FUZZTIME runs or so long
	@for at in $$(grep -rlE '^func Fuzz' --include='*_test.go' . | sort); do \
		for name in $$(grep -oE '^func Fuzz[A-Za-z0-9_]+' $$at | awk '{ print $$2 }'); do \
			$(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x "./$$(dirname $$at)" || exit 1; \
		done; \
	done

.PHONY: cover
cover: ## Show how much the tests reach
	$(GO) test -coverprofile=coverage.out ./... && $(GO) tool cover -func=coverage.out | tail -1

.PHONY: browser
browser: ## Make sure that a Chromium is there for the browser tests
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
		{ echo "installing chromium for the browser tests"; apt-get update -qq && apt-get install -y -qq chromium >/dev/null; }


node_modules/.installed: package-lock.json
	npm ci --no-audit --no-fund
	@touch $@
