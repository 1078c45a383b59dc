# DPDK's l3fwd (longest prefix match) from a port that makes frames for any address to another, with 1 and 4 queues.
# each: interface
# with: 1 4
# limit: 300
interface=$1 queues=$2
source "$(dirname "$0")/../lib.sh"
l3fwd=$("$tests/example" l3fwd)

# Everything leaves through port 1.
printf 'R0.0.0.0/1 1\nR128.0.0.0/1 1\n' >"$tmp/v4"
echo 'R2001:0200:0000:0000:0000:0000:0000:0000/48 1' >"$tmp/v6"
config=$(for ((q = 0; q < queues; q++)); do printf '(0,%d,1),' "$q"; done)

every_queue() {
	local count
	for count in $(stat 0 q_ipackets | cut -d' ' -f 1-"$queues"); do
		((count > 0)) || return 1
	done
}

# shellcheck disable=SC2046
background l3fwd "$l3fwd" "${lcores[@]}" $(eal) "${huge[@]}" "$(rxlab 0 "$(generator 64 4096)")" \
	"$(rxlab 1 source=loop)" -- -p 3 -P --config="$config(1,0,1)" --rule_ipv4="$tmp/v4" --rule_ipv6="$tmp/v6"
until_true 60 at_least 1 opackets 100000 || fail "port 1 sends $(stat 1 opackets)"
until_true 10 every_queue || fail "frames per queue: $(stat 0 q_ipackets)"
equal "port 0: errors" "$(stat 0 ierrors oerrors rx_nombuf | xargs)" "0 0 0"
kill -INT "$pid"
ended "$pid" 30
