# An emulated NIC (emulate=1): pointers pass between the application and the port below, which may be a net_ring, a
# capture, a TAP or another port of ours. Frames stay whole and in order, every mbuf comes back.
# with: privring shring rxbisect
# limit: 180
interface=$1
source "$(dirname "$0")/../lib.sh"

over() { # PORT: an emulated NIC over it
	rxlab 0 "source=port:$1,emulate=1"
}

program() { # NAME LCORES ARGUMENTS...
	# shellcheck disable=SC2046
	"${preload[@]}" "$(compiled "$1")" --lcores "$2" $(eal) "${huge[@]}" "${@:3}"
}

# Pointer identity; and without emulate=1 the same program finds copies.
ring=--vdev=net_ring0
program emulated 0@0 "$(over net_ring0)" $ring --
if program emulated 0@0 "$(rxlab 0 source=port:net_ring0)" $ring -- >"$tmp/copies" 2>&1; then fail "a copy passes for a pointer"; fi
grep -q 'a frame was copied' "$tmp/copies" || fail "$(tail -n 1 "$tmp/copies")"

# On 2 CPUs: two workers share one, the main lcore and the NIC core the other.
loop=--vdev=net_rxlab9,iface=privring,source=loop
for below in "net_ring0 $ring" "net_rxlab9 $loop"; do
	read -r port vdev <<<"$below"
	program integrity 0@0,1@1,2@1 "$(over "$port")" "$vdev" -- --packets 200000 --queues 4 --seed 2
	program cycles 0@0,1@1,2@1 "$(over "$port")" "$vdev" -- cycle 50 1
done

mbufs=16384
forwarder() { # MODE PORT VDEV
	pmd "${small[@]}" "$(over "$2")" "--vdev=$3" -- -i --disable-device-start --nb-cores=1 --rxq=2 --txq=2 --rxd=256 --txd=256 \
		--total-num-mbufs=$mbufs --forward-mode="$1" --no-flush-rx
}

life() { # COUNTER NUMBER: from start to stop, with frames in between
	local before
	before=$(stat 0 "$1")
	equal "mbufs before the start" "$(pmd_free)" $mbufs
	ask "port start all" | grep -q Done || fail "the port does not start"
	tell "start"
	until_true 20 at_least 0 "$1" $((before + $2)) || fail "$1 stays at $(stat 0 "$1")"
	tell "stop"
	equal "bad frames, failed refills, failed sends" "$(stat 0 ierrors rx_nombuf oerrors | xargs)" "0 0 0"
}

ended_life() {
	tell "port stop all"
	equal "mbufs after the stop" "$(pmd_free)" $mbufs
}

# Frames from a generator below; queues stop and start.
for mode in rxonly 5tswap; do
	forwarder $mode net_rxlab9 "net_rxlab9,iface=rxbisect,$(generator 64 4096)"
	for _ in 1 2 3; do
		life ipackets 10000
		tell "port 0 rxq 1 stop"
		tell "port 0 txq 1 stop"
		tell "port 0 rxq 1 start"
		tell "port 0 txq 1 start"
		ended_life
	done
	pmd_quit
done

# Every frame of a capture, in order, into another one.
python3 "$tests/numbered.py" write "$tmp/in.pcap" 200
forwarder io net_pcap0 "net_pcap0,rx_pcap=$tmp/in.pcap,tx_pcap=$tmp/out.pcap"
life opackets 200
ended_life
pmd_quit
python3 "$tests/numbered.py" check "$tmp/out.pcap" 0 | tee "$tmp/order"
grep -q '^200 frames, 0 out of order' "$tmp/order" || fail "frames are missing"

# A port that keeps mbufs from its set-up on, and in a stopped queue.
[[ $(id -u) = 0 && -c /dev/net/tun ]] || skip "the rest needs root and /dev/net/tun"
tap=rxt$$
forwarder 5tswap net_tap0 "net_tap0,iface=$tap"
for _ in 1 2; do
	ip link set "$tap" up
	life ipackets 1
	ended_life
done
pmd_quit
