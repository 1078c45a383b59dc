# DPDK's dpdk-test-flow-perf, unmodified: it creates rules of each kind and deletes them; a kind of item or action that the
# port does not take is refused. Several lcores insert into one port at a time.
# limit: 180
interface=privring
source "$(dirname "$0")/../lib.sh"

rules=20000
lcores=(--lcores 0@0,1@1,2@0)

perf() { # OPTIONS...
	# shellcheck disable=SC2046
	"${preload[@]}" dpdk-test-flow-perf "${lcores[@]}" $(eal) "${small[@]}" "$(rxlab 0 source=loop,nic_cpu=0)" -- --ingress \
		--rules-count=$rules --rules-batch=$((rules / 4)) --total-mbuf-count=8192 --deletion-rate "$@" >"$tmp/perf.log" 2>&1
}

takes() { # OPTIONS...
	perf "$@" || fail "$*"
	grep -q 'Total flows insertion rate' "$tmp/perf.log" || fail "$*: no rules"
	grep -q 'Total deletion rate' "$tmp/perf.log" || fail "$*: no deletion"
	if grep -qE "can.t be created|error" "$tmp/perf.log"; then fail "$*: rules are refused"; fi
}

refuses() { # WHAT OPTIONS...
	if perf "${@:2}"; then fail "${*:2}: not refused"; fi
	grep -q "$1" "$tmp/perf.log" || fail "${*:2}: refused without '$1'"
}

takes --ether --ipv4 --queue
takes --ether --ipv4 --tcp --count --mark --queue
takes --ether --ipv4 --udp --vxlan --rss
takes --ether --ipv4 --udp --geneve --jump --count
takes --ether --ipv4 --gre --flag --queue
takes --ether --vlan --ipv6 --udp --drop
takes --ether --ipv4 --icmpv4 --queue
takes --ether --ipv6 --icmpv6 --queue
takes --ether --ipv4 --meta --tag --set-meta --set-tag --queue
takes --ether --ipv4 --tcp --set-src-mac --set-dst-mac --set-src-ipv4 --set-dst-ipv4 --set-src-tp --set-dst-tp --set-ttl --queue
takes --ether --ipv6 --udp --set-src-ipv6 --set-dst-ipv6 --queue
takes --ether --ipv4 --udp --vxlan --vxlan-decap --queue
takes --ether --ipv4 --vxlan-encap --queue
takes --ether --ipv4 --queue --group=3 --random-priority=8,1
takes --ether --ipv4 --count --queue --cores=2
refuses "allowed are VOID" --ether --ipv4 --gtp --queue
takes --ether --ipv4 --udp --dec-ttl --queue
refuses "allowed are VOID" --ether --ipv4 --queue --inc-tcp-seq
