# A burst of a hundred times the ring in one go, for a program whose polling lcore stands still for 100 ms: unmodified testpmd
# and l3fwd with iface=ceio. All frames come back, each flow's in order, and the card's memory is empty again. With too little
# of it, what comes back and what drops are all frames.
# The frames come over a link to another process, which is the lower port: it sends the burst within some ms, with no drop
# of its own. It also stops the one thread that polls (ptrace), as if its CPU were taken away; the NIC core, a thread of the same
# program, goes on.
# with: testpmd l3fwd
# limit: 240
interface=ceio program=$1
source "$(dirname "$0")/../lib.sh"
root=$tests/../..
library=${CARGO_TARGET_DIR:-$root/target}/release/libccnic.a
[[ -f $library ]] || fail "libccnic.a is not built: make dpdk"
cc -O2 -Wall -Wextra -Werror -I"$root/crates/ccnic-c/include" "$tests/src/burst.c" "$library" -lm -o "$tmp/burst"

ring=256
frames=$((100 * ring))
some=1024 # frames before the burst, right behind it and after it
below="--vdev=net_rxlab1,iface=ccnic,channel=$tmp/wire,channel_role=connect,channel_conf=ring:32768+buffers:65536+bytes:256"

other() { # LEAST
	[[ -p $tmp/thread ]] || mkfifo "$tmp/thread"
	background burst "$tmp/burst" "$tmp/wire" "$frames" "$1" "$tmp/thread"
	burst_pid=$pid
	until_true 10 grep -q listens "$tmp/burst.log" || fail "the other process does not listen"
}

# The thread of lcore 1.
poller() { # PID
	local task
	for task in /proc/"$1"/task/*; do
		[[ $(cat "$task/comm") != *worker-1 ]] || { echo "${task##*/}" && return; }
	done
	fail "no thread of lcore 1 in $1"
}

is_there() { # FRAMES: as many have arrived at the card
	gone "$burst_pid" || (($(stat 0 ipackets) + $(stat 0 imissed) == $1))
}

burst() { # PID
	local status=0
	poller "$1" >"$tmp/thread"
	until_true 60 is_there $((frames + some)) || gone "$burst_pid" || fail "at the card: $(stat 0 ipackets imissed | xargs)"
	timeout 10 bash -c 'echo 1 >"$1"' - "$tmp/thread" || true
	until_true 90 gone "$burst_pid" || fail "the burst does not end"
	wait "$burst_pid" || status=$?
	[[ $status != 77 ]] || skip "$(tail -n 1 "$tmp/burst.log")"
	[[ $status == 0 ]] || fail "the burst ends with $status"
}

xstat() { # NAME
	telemetry /ethdev/xstats,0 "$1"
}

came_back() {
	sed -n 's/.*, \([0-9]*\) came back/\1/p' "$tmp/burst.log"
}

# Whatever came before and after the burst came back.
nothing_else_drops() {
	equal "bad frames, failed refills and failed sends" "$(stat 0 ierrors rx_nombuf oerrors | xargs)" "0 0 0"
	equal "frames sent back" "$(stat 0 opackets)" "$(stat 0 ipackets)"
	equal "frames of the other process" "$(($(stat 0 ipackets) + $(stat 0 imissed)))" $((frames + 3 * some))
	equal "the card's memory in use" "$(xstat rx_nic_memory_slots)" 0
}

no_drop() {
	equal "frames that came back" "$(came_back)" $((frames + some))
	equal "frames dropped" "$(stat 0 imissed)" 0
	nothing_else_drops
	most=$(xstat rx_nic_memory_most)
	((most >= frames - 2 * ring)) || fail "the card kept $most frames of $frames"
}

if [[ $program == l3fwd ]]; then
	l3fwd=$("$tests/example" l3fwd)
	printf 'R0.0.0.0/1 0\nR128.0.0.0/1 0\n' >"$tmp/v4"
	echo 'R2001:0200:0000:0000:0000:0000:0000:0000/48 0' >"$tmp/v6"
	other $frames
	# shellcheck disable=SC2046
	background l3fwd "$l3fwd" "${lcores[@]}" $(eal) "${small[@]}" \
		--vdev="net_rxlab0,iface=ceio:nic_memory:64+flows:16,source=port:net_rxlab1" "$below" -- -p 1 -P --config="(0,0,1)" \
		--rx-queue-size=$ring --rule_ipv4="$tmp/v4" --rule_ipv6="$tmp/v6"
	l3fwd_pid=$pid
	until_true 60 grep -q 'entering main loop on lcore 1' "$tmp/l3fwd.log" || fail "l3fwd does not start"
	burst "$l3fwd_pid"
	no_drop
	kill -INT "$l3fwd_pid"
	ended "$l3fwd_pid" 30
	exit
fi

testpmd() { # MIB LEAST
	other "$2"
	pmd "${small[@]}" --vdev="net_rxlab0,iface=ceio:nic_memory:$1+flows:16,source=port:net_rxlab1" "$below" -- -i --nb-cores=1 \
		--rxq=2 --txq=2 --rxd=$ring --txd=1024 --total-num-mbufs=8192 --forward-mode=io
	tell start
	burst "$pmd_pid"
	ask "stop" | grep -a 'TX-dropped: [1-9]' && fail "testpmd itself dropped frames"
	return 0
}

testpmd 64 $frames
no_drop
pmd_quit
# 4 MiB are 2048 slots, and each queue has a ring of posted buffers.
testpmd 4 $((2048 + ring))
equal "drops by a full memory" "$(xstat rx_nic_memory_full)" "$(stat 0 imissed)"
equal "frames that came back or dropped" "$(($(came_back) + $(xstat rx_nic_memory_full)))" $((frames + some))
equal "the most of the card's memory" "$(xstat rx_nic_memory_most)" 2048
nothing_else_drops
pmd_quit
