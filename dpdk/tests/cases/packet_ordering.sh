# DPDK's packet_ordering between a capture of numbered frames and a capture that records what comes out.
# Two workers overtake each other, the last stage puts the frames in order.
# each: interface
# limit: 120
interface=$1
source "$(dirname "$0")/../lib.sh"
ordering=$("$tests/example" packet_ordering)

# On 2 CPUs: receiver and workers on one, sender and NIC core on the other.
lcores=(--lcores 0@1,1@1,2@1,3@0)

# Longer than what is taken of it: a lap that begins while frames are dropped looks like frames out of order.
python3 "$tests/numbered.py" write "$tmp/in.pcap" 300000
# shellcheck disable=SC2046
background ordering "$ordering" "${lcores[@]}" $(eal) "${huge[@]}" "$(rxlab 0 "source=pcap:$tmp/in.pcap,rx_rate=0.1,nic_cpu=0,nic_idle=spin")" \
	"$(rxlab 1 source=port:net_pcap0,nic_cpu=0,nic_idle=spin)" "--vdev=net_pcap0,tx_pcap=$tmp/out.pcap" -- -p 3
until_true 60 at_least 1 opackets 5000 || fail "frames on their way: $(telemetry /ethdev/xstats,0) $(telemetry /ethdev/xstats,1)"
kill -INT "$pid"
ended "$pid" 30
early=$(sed -n 's/.*Pkts transmitted w\/o reorder:[[:space:]]*//p' "$tmp/ordering.log")
python3 "$tests/numbered.py" check "$tmp/out.pcap" "$early"
