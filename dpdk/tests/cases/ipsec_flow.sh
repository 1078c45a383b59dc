# DPDK's ipsec-secgw, unmodified: its flow rules send frames of some addresses to one queue of a port that makes frames,
# and count them. It forwards what no policy protects from one port to another.
# each: interface
# limit: 180
interface=$1
source "$(dirname "$0")/../lib.sh"
gateway=$("$tests/example" ipsec-secgw)

# The generator's destinations have both values of their first bit. RSS would use both queues for each.
cat >"$tmp/gateway.cfg" <<'EOF'
sp ipv4 in esp bypass pri 1 dst 0.0.0.0/0 sport 0:65535 dport 0:65535
sp ipv4 out esp bypass pri 1 dst 0.0.0.0/0 sport 0:65535 dport 0:65535
sa in 5 cipher_algo null auth_algo null mode transport
rt ipv4 dst 0.0.0.0/1 port 1
rt ipv4 dst 128.0.0.0/1 port 1
flow ipv4 dst 0.0.0.0/1 port 0 queue 1 count
flow ipv4 dst 128.0.0.0/1 port 0 queue 1
EOF

# shellcheck disable=SC2046
background gateway "$gateway" "${lcores[@]}" $(eal) "${huge[@]}" --vdev=crypto_null0 \
	"$(rxlab 0 "$(generator 128 4096)")" "$(rxlab 1 source=loop)" -- -p 3 -P -u 2 \
	--config="(0,0,1),(0,1,1),(1,0,1)" -f "$tmp/gateway.cfg"
until_true 60 at_least 1 opackets 10000 || fail "port 1 sends $(stat 1 opackets)"
read -r first second _ <<<"$(stat 0 q_ipackets)"
((second > 10000)) || fail "queue 1 has $second frames"
# Those that came before the rules.
((first * 10 < second)) || fail "queue 0 has $first frames, queue 1 $second"
kill -INT "$pid"
ended "$pid" 30
