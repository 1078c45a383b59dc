# Every test sources this. It gives the test a directory ($tmp) that also holds EAL's sockets and files, a file
# prefix of its own, and ends what the test started, whatever happens.
# shellcheck shell=bash
set -euo pipefail

tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
driver=$(realpath "${RXLAB_DRIVER:-$tests/../build/librte_net_rxlab.so}")
# EAL refuses a plugin below a directory that everybody may write, such as one that a checkout lies in; a bare name it
# leaves to the loader.
export LD_LIBRARY_PATH=${driver%/*}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
tmp=$(mktemp -d)
# A sanitizer's library has to be in the program before the driver.
preload=(env ${RXLAB_PRELOAD:+"LD_PRELOAD=$RXLAB_PRELOAD"})
prefix=rxlab-test-$$
export RUNTIME_DIRECTORY=$tmp
pids=() namespaces=() links=()

# Memory of a process: 2 MB pages, or none of them.
huge=(-m 200)
small=(--no-huge -m 300)

# On 2 CPUs: the application's lcore on one, the main lcore and the NIC core on the other.
lcores=(--lcores 0@0,1@1)

logs() {
	local log
	for log in "$tmp"/*.log; do
		[[ ! -f $log ]] || { echo "--- ${log##*/}"; grep -av 'cache_count\[' "$log" | tail -n 40; }
	done
}

finish() {
	local status=$? pid n
	for pid in "${pids[@]}"; do
		kill -KILL "$pid" 2>/dev/null && wait "$pid" 2>/dev/null || true
	done
	for n in "${namespaces[@]}"; do
		ip netns del "$n" || true
	done
	rm -f "${links[@]}"
	[[ $status = 0 || $status = 77 ]] || logs
	rm -rf "$tmp" /dev/hugepages/"$prefix"*map_*
	exit "$status"
}
trap finish EXIT

fail() {
	echo "FAILED: $*" >&2
	exit 1
}

skip() {
	echo "$*"
	exit 77
}

# until_true SECONDS COMMAND...: repeats the command until it succeeds
until_true() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		((SECONDS < end)) || return 1
		sleep 0.1
	done
}

# equal WHAT HAVE WANT
equal() {
	[[ $2 == "$3" ]] || fail "$1: $2, expected $3"
}

# rxlab N ARGUMENTS: the vdev of port net_rxlabN on the tested interface
rxlab() {
	echo "--vdev=net_rxlab$1,iface=${interface:?},$2"
}

# generator LENGTH FLOWS: the source of a port that makes frames
generator() {
	echo "source=gen:fixed:$1+flows:$2"
}

# Arguments of every EAL process with the driver.
eal() {
	echo -d "${driver##*/}" --no-pci --file-prefix="$prefix"
}

telemetry() { # COMMAND [FIELD...]
	python3 "$tests/telemetry.py" "$tmp/dpdk/$prefix/dpdk_telemetry.v2" "$@"
}

# stat PORT FIELD...: from the port's ethdev statistics
stat() {
	telemetry "/ethdev/stats,$1" "${@:2}"
}

at_least() { # PORT FIELD NUMBER
	(($(stat "$1" "$2") >= $3))
}

# Starts a program in the background: background NAME COMMAND...; its output goes to $tmp/NAME.log, its id to $pid.
background() {
	"${@:2}" >"$tmp/$1.log" 2>&1 &
	pid=$!
	pids+=("$pid")
}

# ended PID SECONDS: waits for a program of ours to end by itself, and fails unless it ends well
ended() {
	until_true "$2" gone "$1" || fail "process $1 has not ended after $2 s"
	wait "$1" || fail "process $1 ended with status $?"
}

gone() {
	! kill -0 "$1" 2>/dev/null
}

# compiled NAME: the program of src/NAME.c, and of src/NAME/ if it is too long for a file
compiled() {
	local parts
	parts=$(compgen -G "$tests/src/$1/*.c" || true)
	# shellcheck disable=SC2046,SC2086
	cc -O2 -Wall -Wextra -Werror $(pkg-config --cflags libdpdk) "$tests/src/$1.c" $parts -o "$tmp/$1" $(pkg-config --libs libdpdk) ||
		return
	echo "$tmp/$1"
}

# --- testpmd, driven through its prompt ---

# pmd EAL-ARGUMENTS -- TESTPMD-ARGUMENTS
pmd() {
	[[ -p $tmp/pmd.in ]] || mkfifo "$tmp/pmd.in"
	: >"$tmp/pmd.log"
	exec {pmd_in}<>"$tmp/pmd.in"
	# shellcheck disable=SC2046
	"${preload[@]}" stdbuf -o0 dpdk-testpmd "${lcores[@]}" $(eal) "$@" --no-mlockall <"$tmp/pmd.in" >"$tmp/pmd.log" 2>&1 &
	pmd_pid=$!
	pids+=("$pmd_pid")
	until_true 60 pmd_prompts 1 || fail "testpmd does not start"
}

pmd_prompts() { # NUMBER
	gone "$pmd_pid" && fail "testpmd ended"
	(($(grep -ao 'testpmd> ' "$tmp/pmd.log" | wc -l) >= $1))
}

# ask COMMAND: gives the command to testpmd and prints the answer
ask() {
	local seen bytes
	seen=$(grep -ao 'testpmd> ' "$tmp/pmd.log" | wc -l)
	bytes=$(wc -c <"$tmp/pmd.log")
	echo "$1" >&"$pmd_in"
	until_true 30 pmd_prompts $((seen + 1)) || fail "testpmd does not answer to: $1"
	tail -c +"$((bytes + 1))" "$tmp/pmd.log" | tr -d '\r'
}

# tell COMMAND: as ask, where the answer matters only in the log
tell() {
	ask "$1" >/dev/null
}

pmd_quit() {
	echo quit >&"$pmd_in"
	ended "$pmd_pid" 30
	exec {pmd_in}>&-
	if grep -aiE 'panic|segmentation|sanitizer|runtime error|assert' "$tmp/pmd.log"; then fail "testpmd complains"; fi
}

# Mbufs that lie in the pool, caches included, of testpmd's first mempool.
pmd_free() {
	ask "dump_mempool mb_pool_0" | awk -F= '/common_pool_count=|total_cache_count=/ { n += $2 } END { print n }'
}

# --- namespaces ---

# namespace NAME: a network namespace that goes with the test; its name is put before commands as "${in[@]}"
namespace() {
	[[ $(id -u) = 0 && -c /dev/net/tun ]] || skip "needs root and /dev/net/tun"
	ip netns add "$1" || skip "the kernel has no network namespaces"
	namespaces+=("$1")
}
