# A port below (source=port:NAME) that is plugged in, unplugged and plugged in again under traffic: the link follows, frames
# come again, every mbuf and the mempool of the port below are back.
# each: interface
# limit: 240
# ROUNDS: how often.
interface=$1
source "$(dirname "$0")/../lib.sh"
program=$(compiled lower)
rounds=${ROUNDS:-3}

below() { # copy|once|emulated ARGUMENTS NAME DEVARGS [INTERFACE]
	# shellcheck disable=SC2046
	"${preload[@]}" "$program" "${lcores[@]}" $(eal) "${huge[@]}" "$(rxlab 0 "source=port:$3$2")" -- "$rounds" "$1" "${@:3}" \
		>"$tmp/lower.log" 2>&1 || fail "$1 over $3"
	if grep -E 'did not come back|does not let go|does not answer' "$tmp/lower.log"; then fail "$1 over $3"; fi
	tail -n 1 "$tmp/lower.log"
}

python3 "$tests/numbered.py" write "$tmp/in.pcap" 200
modes=("copy ")
[[ ! $interface =~ ^(privring|shring|rxbisect)$ ]] || modes+=("emulated ,emulate=1")
for mode in "${modes[@]}"; do
	read -r mode arguments <<<"$mode"
	below "$mode" "$arguments" net_null0 ""
	below "$mode" "$arguments" net_ring0 ""
	# With link events of its own, on the same NIC core.
	below "$mode" "$arguments" net_rxlab9 iface=privring,source=loop
done
# Keeps mbufs of the mempool until it is closed; its queues cannot be set up again once it has been stopped.
below once "" net_pcap0 "rx_pcap=$tmp/in.pcap,infinite_rx=1"
[[ $(id -u) = 0 && -c /dev/net/tun ]] || skip "the rest needs root and /dev/net/tun"
for mode in "${modes[@]}"; do
	read -r mode arguments <<<"$mode"
	below "$mode" "$arguments,nic_idle=sleep" net_tap0 "iface=rxt$$" "rxt$$"
done
