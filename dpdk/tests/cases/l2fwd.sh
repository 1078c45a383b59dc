# DPDK's l2fwd between two ports: what one makes, the other sends.
# each: interface
# limit: 300
interface=$1
source "$(dirname "$0")/../lib.sh"
l2fwd=$("$tests/example" l2fwd)

# One lcore serves both ports.
forward() { # MEMORY...
	# shellcheck disable=SC2046
	background l2fwd "$l2fwd" "${lcores[@]}" $(eal) "$@" "$(rxlab 0 "$(generator 64 4096)")" \
		"$(rxlab 1 "$(generator 1500 4096)")" -- -p 3 -q 2 -T 0 -P
	until_true 30 at_least 0 opackets 100000 || fail "port 0 sends nothing"
	until_true 30 at_least 1 opackets 100000 || fail "port 1 sends nothing"
	for port in 0 1; do
		equal "port $port: errors" "$(stat $port ierrors oerrors rx_nombuf | xargs)" "0 0 0"
	done
	kill -INT "$pid"
	ended "$pid" 30
}

forward "${huge[@]}"
forward "${small[@]}"
