# Frames in several mbufs, MTUs that change under traffic, checksums and VLANs on both ways, rings of different sizes, Rx
# interrupts, reset, registers, and what is refused.
# each: interface
# limit: 120
interface=$1
source "$(dirname "$0")/../lib.sh"
program=$(compiled offloads)

parts=(running edits vlans sizes wakes control refused)
threads=
# corec's queue is polled by as many threads as there are lcores, and each would get some pieces of a frame.
[[ $interface != corec ]] || threads=,threads=1
# shellcheck disable=SC2046
run() { "${preload[@]}" "$program" "${lcores[@]}" $(eal) "${huge[@]}" "$(rxlab 0 "source=loop$1")" -- "${@:2}" 2>&1 | tee "$tmp/said.log"; }
if [[ $interface == ceio ]]; then
	run "" edits vlans sizes wakes control refused single
else
	run "$threads" scatter "${parts[@]}"
fi
grep -q 'rxmode.mq_mode: DCB and VMDq are not supported' "$tmp/said.log" || fail "VMDq is refused without a word"
grep -q 'allowed as a fixed speed is that of the link.*100000 Mbps' "$tmp/said.log" || fail "a fixed speed is refused without a word"
[[ $interface != ceio ]] || grep -q 'does not fit an mbuf of mbufs.*order of a flow' "$tmp/said.log" || fail "an MTU is refused without a word"
