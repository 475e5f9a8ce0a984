# Commands: run, dev, test, truth, lab, safety-matrix, swaps, fuzz, bench, build, fmt. Longer logic is in tools/.

SHELL := bash
.DEFAULT_GOAL := run
.PHONY: run dev test truth lab safety-matrix swaps fuzz bench build binaries fmt prerequisites

# Flags for `make run`, `make dev` and `make bench`, for example ARGS="--target-root /data".
ARGS ?=

pages := web/dist/index.html
web_sources := $(shell find web/src web/public web/*.html web/vite.config.ts -type f 2>/dev/null)

# Build, then start the server with its data in ./var. Ctrl-C stops it.
run: export LEADLINE_DATA_DIR ?= $(CURDIR)/var
run: build
	@target/release/leadline serve $(ARGS)

# Start a debug server that restarts when a Rust source changes, and Vite with hot reload.
dev: prerequisites web/node_modules/.package-lock.json
	@node tools/dev.mjs $(ARGS)

# Run all checks. The last line counts passed, failed and skipped tests.
test:
	@tools/prerequisites test
	@node tools/check.mjs

# Run the cases that are designed to mislead the verdict. LEADLINE_CASE=text selects by name,
# LEADLINE_REPEAT=10 runs each ten times.
truth:
	@tools/prerequisites test
	@TMPDIR=$(CURDIR)/target/tmp cargo test --locked --workspace --test truth -- --ignored --nocapture

# Run all cases in user-mode Linux: device-mapper, md, control groups, and 100 power cuts. Takes
# about 20 minutes.
lab: export TMPDIR := $(CURDIR)/target/tmp
lab: export LEADLINE_POWER_CUTS ?= 100
lab:
	@tools/prerequisites test
	@cargo build --locked --workspace --bins --examples
	@cargo test --locked --workspace --test runner control_group::
	@cargo test --locked --workspace --test known_cases -- --include-ignored stacked
	@cargo test --locked --workspace --test missing_time -- --include-ignored device_mapper
	@cargo test --locked --workspace --test truth -- --include-ignored stacks
	@cargo test --locked --workspace --test server -- power_cuts --nocapture

# Write to each hazard with fio and with the runner, on scratch loop devices (root, fio). Takes a
# minute and replaces the table in docs/safety.md.
safety-matrix:
	@tools/prerequisites test
	@TMPDIR=$(CURDIR)/target/tmp LEADLINE_SAFETY_MATRIX=$(CURDIR)/docs/safety.md \
		cargo test --locked --workspace --test hazards safety_matrix -- --ignored --nocapture

# Exchange targets 10,000 times between the confirmation and the write (root). Takes ten minutes.
swaps:
	@tools/prerequisites test
	@TMPDIR=$(CURDIR)/target/tmp cargo test --locked --workspace --test hazards \
		targets_swapped_after_their_confirmation -- --ignored --nocapture

# Pass random data to the parsers of untrusted input. LEADLINE_FUZZ_SECONDS=60 limits each target,
# LEADLINE_FUZZ_TARGETS="job plan" selects targets. Takes ten minutes per target.
fuzz:
	@tools/fuzz

# Compare with fio; results are written to target/bench. See ARGS="--help".
bench:
	@tools/prerequisites bench
	@echo '[build] runner + bench (release)'
	@cargo build --release --locked -p leadline-runner -p leadline-bench --bins
	@target/release/leadline-bench $(ARGS)

# Build target/release/leadline and target/release/leadline-runner, with the pages embedded.
build: prerequisites
	@$(MAKE) --no-print-directory binaries

binaries: $(pages)
	@echo '[build] server + runner (release)'
	@cargo build --release --locked -p leadline -p leadline-runner --bins

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
	@cd web && npm run --silent bundle
	@touch $@
