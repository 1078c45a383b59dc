# Linux in two network namespaces, joined through testpmd or l3fwd on two ports over TAP devices: ping of every size,
# TCP and UDP both ways, a file that arrives as it left, and no checksum error on either side.
# each: interface
# with: testpmd l3fwd
# limit: 180
interface=$1 program=$2
source "$(dirname "$0")/../lib.sh"

a=rxa$$ b=rxb$$
namespace $a
namespace $b
in_a=(ip netns exec $a) in_b=(ip netns exec $b)

ports=(--vdev="net_tap0,iface=$a" --vdev="net_tap1,iface=$b" "$(rxlab 0 source=port:net_tap0)" "$(rxlab 1 source=port:net_tap1)")

# address NAMESPACE ADDRESS/LENGTH: moves the TAP device of that name to the namespace
address() {
	ip link set "$1" netns "$1"
	ip -n "$1" addr add "$2" dev "$1"
	ip -n "$1" link set lo up
	ip -n "$1" link set "$1" up
}

switch() {
	pmd "${huge[@]}" "${ports[@]}" -- -i --nb-cores=1 --rxq=2 --txq=2 --total-num-mbufs=16384 --forward-mode=io
	address $a 10.9.1.2/24
	address $b 10.9.1.3/24
	to_b=10.9.1.3
	tell start
	# Both ports look at their links again: net_tap takes a device that has moved for down, and its frames pass still.
	tell "set link-down port 2"
	tell "set link-up port 2"
	tell "set link-down port 3"
	tell "set link-up port 3"
}

route() {
	local l3fwd first second
	l3fwd=$("$tests/example" l3fwd)
	printf 'R10.9.1.0/24 2\nR10.9.2.0/24 3\n' >"$tmp/v4"
	echo 'R2001:0200:0000:0000:0000:0000:0000:0000/48 2' >"$tmp/v6"
	# The MAC addresses that l3fwd writes are its own choice: the TAP devices take them.
	# shellcheck disable=SC2046
	background l3fwd "$l3fwd" "${lcores[@]}" $(eal) "${huge[@]}" "${ports[@]}" -- -p 0xc -P --config="(2,0,1),(3,0,1)" \
		--eth-dest=2,02:00:00:00:0a:02 --eth-dest=3,02:00:00:00:0b:02 --rule_ipv4="$tmp/v4" --rule_ipv6="$tmp/v6"
	# net_tap cannot start a device that has moved already.
	until_true 30 grep -q 'entering main loop' "$tmp/l3fwd.log" || fail "l3fwd does not start"
	address $a 10.9.1.2/24
	address $b 10.9.2.2/24
	to_b=10.9.2.2
	ip -n $a link set $a address 02:00:00:00:0a:02
	ip -n $b link set $b address 02:00:00:00:0b:02
	ip -n $a neigh add 10.9.1.1 lladdr 02:00:00:00:0a:01 dev $a
	ip -n $b neigh add 10.9.2.1 lladdr 02:00:00:00:0b:01 dev $b
	ip -n $a route add default via 10.9.1.1
	ip -n $b route add default via 10.9.2.1
}

# Checksum and header errors that the kernel of a namespace saw. (TcpInErrs counts repeated SYNs as well.)
errors() {
	ip netns exec "$1" nstat -asz | awk '/CsumErrors|InHdrErrors/ && $2 { print $1, $2 }'
}

if [[ $program == testpmd ]]; then switch; else route; fi

until_true 20 "${in_a[@]}" ping -c 1 -W 1 -q $to_b >/dev/null || fail "no answer to ping"
# ping gives up on its last frames too soon when the machine is busy: the kernel's counters tell.
answered() {
	ip netns exec $a nstat -asz IcmpOutEchos IcmpInEchoReps | awk 'NR > 1 { n[NR] = $2 } END { exit n[2] != n[3] }'
}

for size in 0 1 64 500 1472; do
	"${in_a[@]}" ping -c 100 -i 0.005 -q -s $size $to_b >"$tmp/ping.log" || fail "no answer to ping of $size bytes"
	until_true 10 answered || fail "ping of $size bytes loses"
done

background iperf "${in_b[@]}" iperf3 -s -p 5201 --forceflush
# measure NUMBER NAME [OPTION..]: the server listens anew for each test, and resets who comes before it does.
measure() {
	until_true 10 grep -q "listening.*test #$1" "$tmp/iperf.log" || fail "iperf3 does not listen for test $1"
	"${in_a[@]}" iperf3 -c $to_b -J "${@:3}" >"$tmp/$2.log" || fail "iperf3 $2"
}
measure 1 forth -t 3
measure 2 back -t 3 -R
measure 3 udp -t 2 -u -b 50M
for direction in forth back; do
	python3 - "$tmp/$direction.log" <<-END
		import json, sys
		answer = json.load(open(sys.argv[1]))
		assert "error" not in answer, answer["error"]
		got = answer["end"]["sum_received"]
		print(f"TCP: {got['bits_per_second'] / 1e6:.0f} Mbit/s")
		assert got["bytes"] > 1e6, "hardly any TCP"
	END
done

head -c 50000000 /dev/urandom >"$tmp/file"
background receiver "${in_b[@]}" python3 "$tests/transfer.py" receive 7000
receiver=$pid
until_true 10 grep -q ready "$tmp/receiver.log"
"${in_a[@]}" python3 "$tests/transfer.py" send $to_b 7000 "$tmp/file"
ended "$receiver" 30
equal "checksum of the file" "$(tail -n 1 "$tmp/receiver.log")" "$(sha256sum <"$tmp/file" | cut -d' ' -f 1)"
equal "errors that the kernel saw" "$(errors $a) $(errors $b)" " "

if [[ $program == testpmd ]]; then
	tell stop
	pmd_quit
else
	kill -INT "${pids[0]}"
	ended "${pids[0]}" 30
fi
