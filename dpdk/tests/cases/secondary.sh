# Other processes beside a running testpmd: dpdk-proc-info, dpdk-dumpcap and one of ours attach to its port, telemetry answers.
# each: interface
# limit: 120
interface=$1
source "$(dirname "$0")/../lib.sh"

# dpdk-dumpcap takes no -d.
[[ $(id -u) = 0 ]] || fail "linking the driver into EAL's driver directory needs root"
plugins=$(echo "$(pkg-config --variable=libdir libdpdk)"/dpdk/pmds-*)
link=$plugins/librte_net_rxlab.so
if [[ ! -e $link ]]; then
	links+=("$link")
	# No link: EAL looks where it leads to, which may be below a directory that everybody may write. All load this one.
	cp "$driver" "$link"
	export LD_LIBRARY_PATH=$plugins:$LD_LIBRARY_PATH
fi

pmd "${huge[@]}" "$(rxlab 0 "$(generator 300 4096)")" -- -i --nb-cores=1 --rxq=2 --txq=2 --total-num-mbufs=16384 \
	--forward-mode=macswap
tell start
until_true 30 at_least 0 ipackets 10000 || fail "nothing comes"

timeout 30 dpdk-proc-info --file-prefix="$prefix" --no-pci -- -p 1 --stats >"$tmp/stats.log" 2>&1
grep -Eq 'RX-packets: *[0-9]{5,}' "$tmp/stats.log" || fail "dpdk-proc-info --stats shows no frames"
timeout 30 dpdk-proc-info --file-prefix="$prefix" --no-pci -- -p 1 --xstats >"$tmp/xstats.log" 2>&1
grep -Eq 'rx_q1_delivered: *[1-9]' "$tmp/xstats.log" || fail "dpdk-proc-info --xstats shows no rx_q1_delivered"

# shellcheck disable=SC2046
timeout 30 "$(compiled starts)" --proc-type=secondary $(eal) -- reta >"$tmp/reta.log" 2>&1 || fail "the redirection table: $?"

# Processes share mempools by the numbers of their drivers, in order of loading: testpmd comes linked with this one.
LD_PRELOAD=$(ldd "$(command -v dpdk-testpmd)" | grep -o 'librte_mempool_[^ ]*' | head -n 1) \
	timeout 60 dpdk-dumpcap --file-prefix="$prefix" -i net_rxlab0 -c 1000 -w "$tmp/cap.pcapng" >"$tmp/dumpcap.log" 2>&1
frames=$(tcpdump -nr "$tmp/cap.pcapng" 2>/dev/null | wc -l)
((frames >= 1000)) || fail "dpdk-dumpcap captured $frames frames"

before=$(stat 0 ipackets)
until_true 10 at_least 0 ipackets $((before + 10000)) || fail "nothing comes after the others have gone"

# DPDK's own client, by the file prefix alone; one answer to a line.
timeout 30 dpdk-telemetry.py -f "$prefix" <<<$'/ethdev/list\n/rxlab/list\nquit' >"$tmp/client.log" 2>&1
equal "dpdk-telemetry.py: ports" "$(tail -n 2 "$tmp/client.log")" $'{"/ethdev/list": [0]}\n{"/rxlab/list": [0]}'
equal "telemetry: ports of rxlab" "$(telemetry /rxlab/list)" '[0]'
telemetry /rxlab/info,0 >"$tmp/info.log"
telemetry /rxlab/queue,0,1 >"$tmp/queue.log"
python3 - "$tmp/info.log" "$tmp/queue.log" "$interface" <<'END'
import json, sys
info, queue = (json.load(open(name)) for name in sys.argv[1:3])
assert info["iface"] == sys.argv[3], info
assert queue["delivered"] > 0, queue
END

tell stop
pmd_quit
