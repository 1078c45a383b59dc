# Overlay mode: links of another process, which has libccnic alone, joined to a TAP device by testpmd, and by rxoverlay
# with two links and as many queues. The kernel pings through it and checks every answer. The process is killed and
# comes back.
# limit: 180
# with: testpmd rxoverlay
interface=ccnic program=$1
source "$(dirname "$0")/../lib.sh"
root=$tests/../..
library=${CARGO_TARGET_DIR:-$root/target}/release/libccnic.a
rxoverlay=${driver%/*}/overlay/rxoverlay
[[ -f $library && -x $rxoverlay ]] || fail "libccnic.a or rxoverlay is not built: make dpdk"
cc -O2 -Wall -Wextra -Werror -I"$root/crates/ccnic-c/include" "$tests/src/answers.c" "$library" -lm -o "$tmp/answers"

net=rxo$$
namespace $net
in_net=(ip netns exec $net)
wires=("$tmp/wire0") ends=("$(rxlab 0 "channel=$tmp/wire0,channel_role=connect")")
if [[ $program == rxoverlay ]]; then
	wires+=("$tmp/wire1") ends+=("$(rxlab 1 "channel=$tmp/wire1,channel_role=connect")")
fi

answers() {
	background answers "$tmp/answers" "${wires[@]}"
	answers_pid=$pid
	until_true 10 grep -q listens "$tmp/answers.log" || fail "the other process does not listen"
}

answers
if [[ $program == testpmd ]]; then
	pmd "${small[@]}" --vdev="net_tap0,iface=$net" "${ends[@]}" -- -i --nb-cores=1 --total-num-mbufs=8192 --forward-mode=io
	tell start
else
	# shellcheck disable=SC2046
	background rxoverlay "${preload[@]}" "$rxoverlay" "${lcores[@]}" $(eal) "${small[@]}" --vdev="net_tap0,iface=$net" \
		"${ends[@]}" -- net_tap0 net_rxlab0 net_rxlab1
	rxoverlay_pid=$pid
	until_true 60 grep -q 'rxoverlay: net_tap0 and 2 links' "$tmp/rxoverlay.log" || fail "rxoverlay does not start"
fi
ip link set $net netns $net
ip -n $net addr add 10.9.1.2/24 dev $net
ip -n $net link set lo up
ip -n $net link set $net up

# Echo requests without an answer. The kernel's counters tell: ping gives up on its last frames too soon when the machine is
# busy.
missing() {
	"${in_net[@]}" nstat -asz IcmpOutEchos IcmpInEchoReps | awk 'NR > 1 { n[NR] = $2 } END { print n[2] - n[3] }'
}

still_missing() {
	(($(missing) == $1))
}

# Several addresses are several flows, which a TAP device spreads over its queues.
pings() {
	local size host before
	# What was asked while there was no link has no answer.
	before=$(missing)
	for size in 0 1 64 500 1472; do
		for host in {3..10}; do
			"${in_net[@]}" ping -c 40 -i 0.002 -q -s $size "10.9.1.$host" >"$tmp/ping.log" ||
				fail "no answer to ping of $size bytes from 10.9.1.$host"
		done
		until_true 10 still_missing "$before" || fail "pings of $size bytes are lost"
	done
}

until_true 20 "${in_net[@]}" ping -c 1 -W 1 -q 10.9.1.3 >/dev/null || fail "no answer to ping"
pings

kill -KILL "$answers_pid"
wait "$answers_pid" 2>/dev/null || true
answers
for host in {3..10}; do # by each link
	until_true 20 "${in_net[@]}" ping -c 1 -W 1 -q "10.9.1.$host" >/dev/null || fail "the other process is back, and 10.9.1.$host silent"
done
pings
equal "errors that the kernel saw" \
	"$("${in_net[@]}" nstat -asz IcmpInCsumErrors IpInHdrErrors | awk 'NR > 1 { n += $2 } END { print n }')" 0

if [[ $program == testpmd ]]; then
	tell stop
	pmd_quit
else
	kill -INT "$rxoverlay_pid"
	ended "$rxoverlay_pid" 30
	grep 'rxoverlay: .* to the link' "$tmp/rxoverlay.log"
fi
ended "$answers_pid" 30
grep answered "$tmp/answers.log"
if grep -q ' 0 answered' "$tmp/answers.log"; then fail "a link that carried nothing"; fi
