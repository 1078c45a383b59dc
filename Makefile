# Each target does its own set-up: on a fresh Debian 12 with a Rust toolchain, as root, `make demo` and
# `make test` need nothing else.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# Where the demo and the experiments leave their output.
OUT ?= .
RXLAB ?= $(or $(CARGO_TARGET_DIR),target)/release/rxlab

.PHONY: help demo pgo test test-dpdk why soak-dpdk soak-corec soak-ccnic long long-loom long-miri long-fuzz experiments captures dumps verdicts same bench-live bench-flow live-predictions corec-tcp tsan advice build toolchain packages dpdk dpdk-asan install-driver python-venv test-python python-api wheel sweep dist test-dist book instructions fit

help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# What stands above each recorded result: date, commit, machine and, if it is one alone, the command. $(1): directories
# whose uncommitted changes matter; $(2): versions; $(3): the command.
heading = echo "date:    $$(date -u +%Y-%m-%d)"; \
  echo "commit:  $$(git rev-parse --short HEAD)$$(git diff --quiet HEAD -- $(1) || echo ' and uncommitted changes')"; \
  echo "machine: $$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $$(nproc) CPUs, $(2)"$(if $(3),; \
  echo "command: $(3)")
with_rustc = $$(rustc --version)
with_dpdk = DPDK $$(pkg-config --modversion libdpdk)
with_linux = Linux $$(uname -r), $(with_dpdk)
comma := ,

# What a run of this program spends its time on, as the compiler's profile.
PGO = $(or $(CARGO_TARGET_DIR),target)/pgo
pgo: toolchain ## rxlab by its own profile, 1.02 to 1.05 times as fast in the model: target/pgo/release/rxlab
	rustup component list --installed | grep -q llvm-tools || rustup component add llvm-tools
	@rm -rf $(PGO)/profile
	RUSTFLAGS=-Cprofile-generate=$(abspath $(PGO))/profile cargo build --release --quiet -p rxlab --target-dir $(PGO)/measured
	$(PGO)/measured/release/rxlab compare --placements 1 --limit-ms 40 --trial-ms 5 >/dev/null
	$(PGO)/measured/release/rxlab compare --placements 1 --limit-ms 40 --no-search --rate 199 --app nat --emulated >/dev/null
	@$$(rustc --print sysroot)/lib/rustlib/*/bin/llvm-profdata merge -o $(PGO)/rxlab.profdata $(PGO)/profile
	RUSTFLAGS=-Cprofile-use=$(abspath $(PGO))/rxlab.profdata cargo build --release --quiet -p rxlab --target-dir $(PGO)
	@echo "$(PGO)/release/rxlab"

demo: build ## Make a workload, compare the interfaces on it, write report.html
	$(RXLAB) compare --rate 199 --html $(OUT)/report.html
	@echo "plots: $(OUT)/report.html"

# The workspace's tests have loom's memory with them: crates/rings asks for it.
test: toolchain packages dpdk ## All tests
	cargo test --workspace --quiet
	cargo test --release --quiet -p rings --test native_cost
	cd experiments && python3 -Bm unittest --quiet verdicts_test
	python3 -B python/tools/generate.py --check
	dpdk/tests/run ^smoke

# The Python module, in an environment of its own. A development build of the bindings is four minutes of a CPU the first
# time, so no other target has it.
VENV = $(or $(CARGO_TARGET_DIR),target)/venv
PYTHON_TARGET = $(abspath $(or $(CARGO_TARGET_DIR),target))
python-venv: toolchain packages
	@[ -x $(VENV)/bin/python ] || python3 -m venv $(VENV)
	@$(VENV)/bin/pip install --quiet 'maturin>=1.9,<2'
	@cd python && . $(abspath $(VENV))/bin/activate && CARGO_TARGET_DIR=$(PYTHON_TARGET) maturin develop --quiet --profile $(PROFILE) --extras test
python-venv: PROFILE ?= dev

test-python: python-venv ## Python's functions, sweeps on Dask and Ray whose workers are killed, notebooks
	cd python && $(abspath $(VENV))/bin/python -m pytest

# Python's functions and classes are written from the command line and the schemas.
python-api: toolchain ## Write python/commands.json, and what is made of it
	cargo run --quiet -p rxlab -- schema --commands > target/commands.json
	mv target/commands.json python/commands.json
	python3 -B python/tools/generate.py

wheel: toolchain ## The Python module as a wheel, in dist/
	@[ -x $(VENV)/bin/python ] || python3 -m venv $(VENV)
	@$(VENV)/bin/pip install --quiet 'maturin>=1.9,<2'
	cd python && CARGO_TARGET_DIR=$(PYTHON_TARGET) $(abspath $(VENV))/bin/maturin build --release --quiet --out ../dist

# A package of the program for any Debian from 12 on, and one of the driver for the DPDK of this one.
dist: wheel build dpdk ## A wheel, two Debian packages and a source archive, in dist/
	packages/build $(RXLAB) dpdk/build/librte_net_rxlab.so dist

# mdBook is built by cargo the first time.
MDBOOK = $(or $(CARGO_TARGET_DIR),target)/tools/bin/mdbook
BOOK = $(or $(CARGO_TARGET_DIR),target)/book
book: build ## The documentation as pages, in target/book/html; runs the guides' commands
	@[ -x $(MDBOOK) ] || cargo install --quiet --root $(abspath $(BOOK))/../tools --locked --no-default-features --features search --version '~0.4.48' mdbook
	book/assemble $(BOOK)
	book/commands $(RXLAB)
	$(MDBOOK) build --dest-dir $(abspath $(BOOK))/html $(BOOK)

# As root; a quarter of an hour, most of it downloads.
test-dist: dist ## Install the packages in fresh Debian 12 and 13, and use them there, into docs/results/packages.txt
	@packages/test dist > docs/results/packages.txt || { cat docs/results/packages.txt; exit 1; }
test-dist: PACKAGES += debootstrap

# Two minutes, and the machine to itself.
sweep: wheel ## Measure a sweep of 1000 points with one worker and with two, into docs/results/sweep.txt
	@$(VENV)/bin/pip install --quiet --force-reinstall --no-deps dist/rxlab-*.whl
	@$(VENV)/bin/pip install --quiet msgspec tqdm joblib pyarrow
	@{ $(call heading,crates profiles python,$$($(VENV)/bin/python --version),python/tools/measure_sweep.py); echo; \
	  $(VENV)/bin/python -I python/tools/measure_sweep.py; } > docs/results/sweep.txt

# As root: TAP devices, network namespaces, EAL's driver directory.
test-dpdk: packages build dpdk dpdk-asan ## The driver under testpmd, DPDK's examples, Open vSwitch, Linux TCP
	dpdk/tests/run
test-dpdk: PACKAGES += openvswitch-switch-dpdk iperf3 tcpdump iproute2 iputils-ping

soak-dpdk: packages dpdk ## Order and integrity of 10^9 frames and more through each interface, an hour
	PACKETS=700000000 dpdk/tests/run '^(integrity|shared)'

# Two hours, or one with `make -j2 long`, and a nightly toolchain. The soaks come last: they count on both CPUs.
long: long-loom long-miri long-fuzz advice tsan ## Slow checks: loom with 3 preemptions, Miri, fuzzing, soaks
	cargo test --release -p flow --test pairs --test full -- --ignored --nocapture
	for n in 1 2 3; do $(RXLAB) live --workers $$n --skew 60 --packets 1000000000 --patience 60; done

long-loom: test build
	RXLAB_LOOM_PREEMPTIONS=3 cargo test --release -p rings --test loom_rings
	cargo test --release -p rings --test loom_rings -- --ignored
	RXLAB_LOOM_PREEMPTIONS=3 cargo test --release -p memory --features checked --test loom_probes

long-miri: test
	rustup component list --toolchain nightly --installed | grep -q miri || rustup toolchain install nightly --component miri,rust-src
	MIRIFLAGS=-Zmiri-disable-isolation cargo +nightly miri test -p memory --test native --test probes -p rings --test threads --test threads_stopping --test hostile_beside
	MIRIFLAGS=-Zmiri-disable-isolation cargo +nightly miri test -p rings --test it -- ccnic:: ceio:: admitted::
	cargo +nightly miri test -p memory --lib reach
	MIRIFLAGS=-Zmiri-disable-isolation cargo +nightly miri test -p model --test it -- views::
	MIRIFLAGS="-Zmiri-tree-borrows -Zmiri-ignore-leaks -Zmiri-disable-isolation" cargo +nightly miri test -p flow --lib --test tables

long-fuzz: test
	fuzz/run 600

# A quarter of an hour for each 10^9 frames. More threads than CPUs on purpose: they lose the CPU holding claims.
soak-corec: build ## 10^9 frames through one corec ring and 2, 3, 4 threads, into docs/results/corec-live.txt
	@{ $(call heading,crates,$(with_rustc)); \
	  for what in "--workers "{2,3,4}" --packets 1000000000" "--workers 4 --packets 100000000 --shift 100000" "--workers "{1,2,3,4,6,8}" --packets 20000000"; do \
	    echo; echo "command: rxlab live --interfaces corec --app l3fwd --patience 60 $$what"; \
	    $(RXLAB) live --interfaces corec --app l3fwd --patience 60 $$what; \
	  done; } > docs/results/corec-live.txt

# Eighteen minutes with two CPUs to itself. Content is checked in every packet; a line of progress every ten seconds.
SOAK_PACKETS ?= 10000000000
soak-ccnic: toolchain ## 10^10 packets each way between two processes through a link, into docs/results/ccnic-soak.txt
	@cargo test --release --quiet -p ccnic --test channels --no-run
	@{ $(call heading,crates,$(with_rustc),make soak-ccnic SOAK_PACKETS=$(SOAK_PACKETS)); \
	  RXLAB_SOAK_PACKETS=$(SOAK_PACKETS) cargo test --release --quiet -p ccnic --test channels -- --nocapture \
	    --exact soak::every_packet_comes_once_whole_and_in_order | grep --line-buffered 'packets each way'; } | tee docs/results/ccnic-soak.txt

# Twice twenty drawn servers, every setting of each: some seven minutes.
advice: toolchain ## Hold the advice of rxlab advise against exhaustive sweeps, into docs/results/advise.txt
	@{ $(call heading,crates profiles,$(with_rustc),cargo test --release -p rxlab --lib -- --test-threads 1 --ignored --nocapture advice); \
	  cargo test --release --quiet -p rxlab --lib -- --test-threads 1 --ignored --nocapture advice 2>/dev/null; } > docs/results/advise.txt

# The standard library is built anew with it; loom covers what a sanitizer cannot reach.
tsan: toolchain ## The rings and the driver's library between threads, under ThreadSanitizer
	rustup component list --toolchain nightly --installed | grep -q rust-src || rustup toolchain install nightly --component rust-src
	RUSTFLAGS="-Zsanitizer=thread --cfg sanitized" cargo +nightly test --quiet -Zbuild-std --target $$(rustc -vV | sed -n 's/^host: //p') \
	  -p pmd --test port -p rings --test threads --test threads_stopping

# One full run of every experiment, a file for each paper, with machine, date, commit and command. It wants the
# machine to itself, and TRACES=DIR for the experiments that replay captures: without it they are left out, and named.
CAPTURES = $(if $(TRACES),--captures $(TRACES))
experiments: build ## Run all experiments, or those of PAPERS=A, into docs/results, their reports into pages/
	@mkdir -p docs/results
	@for paper in $(or $(PAPERS),$$($(RXLAB) experiment list --json | sed -n 's/.*"id": "\(.*\)\/.*".*/\1/p' | sort -u)); do \
	  echo "$$paper -> docs/results/$$paper.txt"; \
	  { $(call heading,crates experiments profiles,$(with_rustc),rxlab --no-cache experiment run $$paper --all $(CAPTURES) --html $(OUT)/pages/$$paper); echo; \
	    start=$$SECONDS; \
	    $(RXLAB) --no-cache experiment run $$paper --all $(CAPTURES) --html $(OUT)/pages/$$paper; \
	    echo; echo "took $$((SECONDS - start)) s of wall clock"; } > docs/results/$$paper.txt; \
	done

# What has run is kept, so that it goes on where it was stopped.
fit: build ## Predict each figure of three papers, then each paper, from a fit on all others, into docs/results/fit.txt
	@{ $(call heading,crates experiments profiles,$(with_rustc)); \
	  for what in "--leave-out figure" "--leave-out paper"; do \
	    echo; echo "command: rxlab fit $$what"; $(RXLAB) fit $$what; \
	  done; } > docs/results/fit.txt

# Of all interfaces, at full length: some minutes.
captures: build ## Compare the interfaces on each capture of TRACES=DIR, twice, into docs/results/captures.txt
	@test -n "$(TRACES)" || { echo "make captures: which folder of captures? make captures TRACES=DIR" >&2; exit 2; }
	@{ $(call heading,crates profiles,$(with_rustc),rxlab compare --pcap FILE --json$(comma) twice each: experiments/captures.py); echo; \
	  experiments/captures.py $(RXLAB) $(TRACES); } > docs/results/captures.txt

# Fetches two source packages the first time.
dumps: build ## Detect 90 machines that others dumped and compare the interfaces on each, into docs/results/dumps.txt
	cargo test --quiet -p rxlab --lib -- --ignored every_dump
	@{ $(call heading,crates profiles,$(with_rustc),experiments/dumps_table.py); echo; \
	  experiments/dumps_table.py --rxlab $(RXLAB); } > docs/results/dumps.txt

# Two minutes, and the machine to itself: a core that others take away is a cause, too.
why: packages build dpdk ## Ask eight staged programs why they drop, and run the tutorial, into docs/results/why.txt
	@said=$$(mktemp); \
	{ $(call heading,crates dpdk profiles,$(with_dpdk),dpdk/tests/run '^(why|tutorial)'); echo; \
	  RXLAB_SAID=$$said dpdk/tests/run '^(why|tutorial)'; cat $$said; rm $$said; } > docs/results/why.txt
why: PACKAGES += openvswitch-switch-dpdk iproute2 iputils-ping

# A minute. With OLD=FILE, another build beside it.
instructions: toolchain packages build ## Where the instructions of a modelled frame go, into docs/results/model-instructions.txt
	@{ $(call heading,crates,$(with_rustc),experiments/instructions.py $(RXLAB) $(OLD)); echo; \
	  experiments/instructions.py $(RXLAB) $(OLD); } > docs/results/model-instructions.txt

# Some five minutes. A change that moves a digest on purpose says so and writes the file anew: same.py --write.
same: toolchain packages build ## Did a result change? Digests of fixed commands and instructions against experiments/same.txt
	experiments/same.py $(RXLAB) $(if $(TRACES),--traces $(TRACES)) --counts

# An hour or more, most of it overloads, whose remedies are searched. With TRACES=DIR, captures at five loads as well.
VERDICTS ?= 200
verdicts: build ## Hold the verdicts of VERDICTS=N random set-ups against their rows, into docs/results/verdicts.txt
	@{ $(call heading,crates experiments profiles,$(with_rustc)); \
	  good=0; for what in "run $(VERDICTS)" $(if $(TRACES),"captures $(TRACES)"); do \
	    echo; echo "command: experiments/verdicts.py $$what"; \
	    experiments/verdicts.py --rxlab $(RXLAB) $$what || good=1; \
	  done; exit $$good; } > docs/results/verdicts.txt

# The DPDK driver: C over a Rust static library. EAL refuses to load plugins from a directory that everybody may write.
PMD_LIBRARY = $(abspath $(or $(CARGO_TARGET_DIR),target)/release/librxlab_pmd.a)
KV_LIBRARY = $(abspath $(or $(CARGO_TARGET_DIR),target)/release/librxlab_kv.a)

dpdk: toolchain ## The DPDK driver: dpdk/build/librte_net_rxlab.so
	$(call driver,dpdk/build,)

dpdk-asan: toolchain ## The driver with AddressSanitizer and UndefinedBehaviorSanitizer in its C part: dpdk/build-asan
	$(call driver,dpdk/build-asan,-Db_sanitize=address$(comma)undefined -Db_lundef=false -Dbuildtype=debugoptimized)

# EAL loads what lies in this directory without -d.
install-driver: dpdk ## Link the driver into EAL's driver directory
	@dir=$$(ls -d $$(pkg-config --variable=libdir libdpdk)/dpdk/pmds-*); \
	ln -sfn $(abspath dpdk/build/librte_net_rxlab.so) $$dir/librte_net_rxlab.so; \
	echo "$$dir/librte_net_rxlab.so"

# An hour; it wants the machine to itself.
bench-live: build dpdk ## Measure the driver's interfaces beside DPDK's own, into docs/results/bench-live.txt
	@{ $(call heading,crates dpdk,$(with_dpdk),rxlab bench live); echo; \
	  $(RXLAB) bench live; } > docs/results/bench-live.txt

# Two minutes; root for huge pages, and the machine to itself.
bench-flow: build dpdk ## Measure flow tables beside DPDK's tables, into docs/results/bench-flow.txt
	@{ $(call heading,crates dpdk,$(with_dpdk),rxlab bench flow --tables 1$(comma)2$(comma)4$(comma)8$(comma)16); echo; \
	  $(RXLAB) bench flow --tables 1,2,4,8,16; } > docs/results/bench-flow.txt

# Three minutes; root, and the machine to itself.
live-predictions: build dpdk ## Predict the driver from calibrated primitives and measure it, into docs/results/live-predictions.txt
	@{ $(call heading,crates dpdk,$(with_dpdk),dpdk/bench/predictions.py); echo; \
	  dpdk/bench/predictions.py --rxlab $(RXLAB); } > docs/results/live-predictions.txt

# A quarter of an hour; root, and the machine to itself.
corec-tcp: packages dpdk ## Linux TCP through one and two threads on a corec queue, into docs/results/corec-tcp.txt
	@{ $(call heading,crates dpdk,$(with_linux),dpdk/bench/tcp.py); echo; \
	  dpdk/bench/tcp.py; } > docs/results/corec-tcp.txt
corec-tcp: PACKAGES += iproute2 iputils-ping

define driver
	@cargo rustc --release --quiet -p pmd --lib --crate-type staticlib -- -C panic=abort
	@cargo rustc --release --quiet -p kv --lib --crate-type staticlib -- -C panic=abort
	@cargo rustc --release --quiet -p ccnic-c --lib --crate-type staticlib
	@headers=$$(dpdk/setup); \
	options="-Drxlab_pmd=$(PMD_LIBRARY) -Drxlab_kv=$(KV_LIBRARY) -Ddriver_headers=$$headers $(2)"; \
	if [ -f $(1)/build.ninja ]; then meson configure $(1) $$options >/dev/null; else meson setup $(1) dpdk $$options >/dev/null; fi; \
	ninja -C $(1) --quiet; \
	echo "$(1)/librte_net_rxlab.so"
endef

build: toolchain
	cargo build --release --quiet -p rxlab

# One line for an older toolchain, before cargo says it in many.
toolchain:
	@command -v cargo >/dev/null || { echo "rxlab needs Rust $(RUST) or later: install it with rustup, see https://rustup.rs" >&2; exit 2; }
	@have=$$(rustc --version | cut -d' ' -f2); \
	printf '%s\n%s\n' "$(RUST)" "$$have" | sort -VC || { echo "rxlab needs Rust $(RUST) or later, this is $$have: run rustup update stable" >&2; exit 2; }

RUST := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)

# Programs that tests run: valgrind counts instructions, python3-venv holds the reference cache simulator, which is built with
# python3-dev.
PACKAGES := valgrind python3 python3-dev python3-venv gcc g++

packages:
	@missing=; for p in $(PACKAGES); do dpkg -s $$p >/dev/null 2>&1 || missing="$$missing $$p"; done; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing$$missing"; \
	  apt-get update -qq </dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing </dev/null >/dev/null; \
	else \
	  echo "make: the tests need these Debian packages:$$missing (apt-get install$$missing)" >&2; exit 2; \
	fi
