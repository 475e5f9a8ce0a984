# What a person types: run, test, bench, build. Longer logic lives in tools/; CI calls `make test`, and nothing else.

SHELL := bash
.DEFAULT_GOAL := run
.PHONY: run test bench build binaries fmt prerequisites

# Flags of `make run` and `make bench`, such as ARGS="--listen 127.0.0.1:8080 --target-root /data".
ARGS ?=

pages := web/dist/index.html
web_sources := $(shell find web/src web/public web/index.html web/vite.config.ts -type f 2>/dev/null)

# Builds what is needed and starts the server on ./var (a --data-dir in ARGS goes before it); Ctrl-C ends it.
run: export LEADLINE_DATA_DIR ?= $(CURDIR)/var
run: build
	@target/release/leadline serve $(ARGS)

# Everything there is to check. The last line counts it.
test:
	@tools/prerequisites test
	@node tools/check.mjs

# Side by side with fio; figures go to target/bench. ARGS="--group full --t-io-uring PATH" and what --help tells.
bench:
	@tools/prerequisites bench
	@echo '[build] runner + bench (release)'
	@cargo build --release --locked --workspace --bins
	@target/release/leadline-bench $(ARGS)

# target/release/leadline and target/release/leadline-runner, with the pages inside.
build: prerequisites
	@$(MAKE) --no-print-directory binaries

binaries: $(pages)
	@echo '[build] server + runner (release)'
	@cargo build --release --workspace --bins --locked

fmt:
	cargo fmt --all
	cd web && npm run fix

prerequisites:
	@tools/prerequisites run

web/node_modules/.package-lock.json: web/package.json web/package-lock.json
	@echo '[build] web: npm ci --ignore-scripts'
	@cd web && npm ci --ignore-scripts --no-audit --no-fund
	@touch $@

$(pages): web/node_modules/.package-lock.json $(web_sources)
	@echo '[build] web: vite build'
	@cd web && npx --no-install vite build --logLevel warn
	@touch $@
