# Every way of building and checking taskpool. `make help` lists them.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.ONESHELL:
.DELETE_ON_ERROR:
MAKEFLAGS += --warn-undefined-variables --no-builtin-rules
.DEFAULT_GOAL := help

CI ?= false
# What `bin/taskpool version` tells.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
# How long `make soak` runs each of its tests.
SOAK ?= 10m
# How long `make bench-parts` runs each benchmark, or how often ("100x").
BENCHTIME ?= 1s
# What `make bench` is told: see `go run ./test/performance -help`.
BENCH ?=
# How many inputs `make fuzz` tries on each target. A count, not a time: it does
# the same on a slow machine.
FUZZ ?= 20000x

# Tools have module files of their own, so that they ask nothing of the product's.
BUF := go tool -modfile=tools/buf/go.mod buf
GOLANGCI_LINT := go tool -modfile=tools/lint/go.mod golangci-lint
TOOL_MODULES := buf protoc lint grpcurl

.PHONY: help
help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / { printf "%-20s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: build
build: ## Build the static binary bin/taskpool.
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o bin/taskpool ./cmd/taskpool

.PHONY: test
test: ## Vet, then run every test, under the race detector if there is a C compiler.
	@go vet -tags soak ./...
	cc="$$(go env CC)"
	if command -v "$${cc%% *}" >/dev/null; then
		CGO_ENABLED=1 go test -race -timeout 20m ./...
	elif [ '$(CI)' = true ]; then
		echo 'make test: no C compiler, and CI must run the race detector' >&2
		exit 1
	else
		echo 'make test: the race detector is left out for want of a C compiler'
		go test -timeout 20m ./...
	fi

.PHONY: soak
soak: ## Run the tests named Soak, each for SOAK (10m).
	TASKPOOL_SOAK='$(SOAK)' go test -tags soak -run Soak -count 1 -timeout 0 -v ./...

.PHONY: bench
bench: build ## Measure the product against the limit, and write docs/performance.md.
	go run ./test/performance -taskpool bin/taskpool -write docs/performance.md $(BENCH)

.PHONY: bench-parts
bench-parts: ## Run every Go benchmark for BENCHTIME (1s).
	go test -run '^$$' -bench . -benchmem -benchtime '$(BENCHTIME)' ./...

.PHONY: fuzz
fuzz: ## Try FUZZ (20000x) inputs on every fuzz target.
	@for package in $$(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./...); do
		list="$$(go test -list '^Fuzz' "$$package")"
		for target in $$(grep '^Fuzz' <<<"$$list" || true); do
			echo "$$package $$target"
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime '$(FUZZ)' "$$package"
		done
	done

.PHONY: generate
generate: ## Generate gen/ from proto/.
	$(BUF) generate

.PHONY: verify
verify: verify-generate verify-format verify-lint verify-proto-lint verify-breaking verify-tidy verify-docs ## Check all that is not a test.

.PHONY: verify-generate
verify-generate: ## Check that gen/ is what proto/ gives.
	@out="$$(mktemp -d)"
	trap 'rm -rf "$$out"' EXIT
	$(BUF) generate --output "$$out"
	diff -r "$$out/gen" gen || { echo 'gen/ is out of date: make fix-generate' >&2; exit 1; }

.PHONY: verify-format
verify-format: ## Check the format of Go and proto files.
	@$(GOLANGCI_LINT) fmt --diff || { echo 'not formatted: make fix-format' >&2; exit 1; }
	$(BUF) format --diff --exit-code || { echo 'not formatted: make fix-format' >&2; exit 1; }

.PHONY: verify-lint
verify-lint: ## Lint the Go files.
	$(GOLANGCI_LINT) run --allow-parallel-runners

.PHONY: verify-proto-lint
verify-proto-lint: ## Lint the proto files.
	$(BUF) lint

.PHONY: verify-breaking
verify-breaking: ## Check that the API keeps the promises of the last tag.
	@tag="$$(git describe --tags --abbrev=0 HEAD^ 2>/dev/null || true)"
	if [ -z "$$tag" ]; then
		echo 'verify-breaking: there is no earlier tag to compare with'
	else
		$(BUF) breaking --against ".git#tag=$$tag"
	fi

.PHONY: verify-tidy
verify-tidy: ## Check that every go.mod and go.sum is tidy.
	@go mod tidy -diff || { echo 'not tidy: make fix-tidy' >&2; exit 1; }
	for module in $(TOOL_MODULES); do
		go -C "tools/$$module" mod tidy -diff || { echo "tools/$$module is not tidy: make fix-tidy" >&2; exit 1; }
	done

.PHONY: verify-docs
verify-docs: ## Check that links and make targets named in *.md exist.
	go run ./internal/docscheck .

.PHONY: fix-generate
fix-generate: generate ## Same as generate.

.PHONY: fix-format
fix-format: ## Format Go and proto files.
	$(GOLANGCI_LINT) fmt
	$(BUF) format --write

.PHONY: fix-lint
fix-lint: ## Repair what the Go linters can repair.
	$(GOLANGCI_LINT) run --fix

.PHONY: fix-tidy
fix-tidy: ## Tidy every go.mod and go.sum.
	go mod tidy
	for module in $(TOOL_MODULES); do go -C "tools/$$module" mod tidy; done
