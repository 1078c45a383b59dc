# A key-value store over DPDK: clients in a network namespace, over a TAP device, and the driver between. Every reply is
# checked by a client that has its own idea of the format.
# each: interface
# limit: 120
interface=$1
source "$(dirname "$0")/../lib.sh"
rxkv=${driver%/*}/kv/rxkv
[[ -x $rxkv ]] || skip "rxkv is not built: make dpdk"

client=kvc$$
namespace $client
in_client=(ip netns exec $client)

# shellcheck disable=SC2046
background rxkv "${preload[@]}" "$rxkv" "${lcores[@]}" $(eal) "${small[@]}" --vdev="net_tap0,iface=$client" \
	"$(rxlab 0 source=port:net_tap0)" -- 1 4 20000
rxkv_pid=$pid
until_true 60 grep -q 'rxkv: port' "$tmp/rxkv.log" || fail "rxkv does not start"
ip link set $client netns $client
ip -n $client addr add 10.9.1.2/24 dev $client
ip -n $client link set lo up
ip -n $client link set $client up
# The server is no host: it answers requests, not ARP.
ip -n $client neigh add 10.9.1.3 lladdr 02:00:00:00:00:03 dev $client

"${in_client[@]}" python3 "$tests/kv_client.py" 10.9.1.3 4 "${REQUESTS:-20000}" || fail "the client"
equal "datagrams with a wrong checksum" \
	"$("${in_client[@]}" nstat -asz UdpInCsumErrors IpInHdrErrors | awk 'NR > 1 { n += $2 } END { print n }')" 0
# What is no request must not hurt: bytes at random to every partition, then all goes on.
"${in_client[@]}" python3 - <<-END
	import random, socket
	dice, s = random.Random(2), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
	for i in range(2000):
	    junk = dice.randbytes(dice.randrange(1400))
	    s.sendto((b"KV\x01" + bytes([dice.randrange(5)]) if i % 2 else b"") + junk, ("10.9.1.3", 20000 + i % 5))
END
"${in_client[@]}" python3 "$tests/kv_client.py" 10.9.1.3 4 2000 3 || fail "the client, after junk"
kill -INT "$rxkv_pid"
ended "$rxkv_pid" 30
grep 'rxkv: .* replies' "$tmp/rxkv.log"
