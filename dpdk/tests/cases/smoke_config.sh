# What a program may ask of a port: its link's speed, loopback, rings of any size, a direction without queues.
# limit: 60
interface=privring
source "$(dirname "$0")/../lib.sh"

speed() { # PORT
	telemetry "/ethdev/link_status,$1" speed
}

xstat() { # PORT NAME
	telemetry "/ethdev/xstats,$1" "$2"
}

starts() { # WHAT
	! ask "port start all" | grep -Ei 'fail|invalid|not supported' || fail "$1: the port does not start"
}

forwards() { # WHAT STATISTIC
	local before
	before=$(stat 0 "$2")
	tell "start"
	until_true 20 at_least 0 "$2" $((before + 100)) || fail "$1: $2 is $(stat 0 "$2")"
	tell "stop"
	tell "port stop all"
}

pmd "${small[@]}" "$(rxlab 0 source=loop)" "$(rxlab 1 "$(generator 64 16),rx_rate=7,tx_rate=12")" \
	"$(rxlab 2 source=loop,link_speed=2.5)" -- -i --disable-device-start --nb-cores=1 --total-num-mbufs=16384 \
	--forward-mode=flowgen --portlist=0
tell "port start all"
equal "speed of a link without rates" "$(speed 0)" 100000
equal "speed of a link with rates" "$(speed 1)" 20000
equal "speed of a link that was given one" "$(speed 2)" 2500

tell "port stop all"
tell "port config 0 loopback 1"
starts "lpbk_mode=1 of a loop"
forwards "lpbk_mode=1 of a loop" ipackets
tell "port config 1 loopback 1"
ask "port start 1" | grep -q 'lpbk_mode 1.*source=gen.*allowed is 0, or 1 with source=loop' ||
	fail "lpbk_mode=1 of a generator is not refused"
tell "port config 0 loopback 0"
tell "port config 1 loopback 0"

# What ethdev's limits allow is taken.
tell "port config all rxd 640"
tell "port config all txd 100"
starts "640 and 100 descriptors"
ask "show rxq info 0 0" | grep -q 'Number of RXDs: 1024' || fail "640 descriptors are no ring of 1024"
ask "show txq info 0 0" | grep -q 'Number of TXDs: 128' || fail "100 descriptors are no ring of 128"
forwards "640 and 100 descriptors" ipackets

# What comes while there is no queue is counted.
tell "port config all rxq 0"
tell "set fwd txonly"
starts "no Rx queues"
forwards "no Rx queues" opackets
(($(xstat 0 rx_queue_stopped) >= 100)) || fail "no Rx queues: $(xstat 0 rx_queue_stopped) frames of a stopped queue"
pmd_quit

pmd "${small[@]}" "$(rxlab 0 "$(generator 64 16)")" -- -i --disable-device-start --nb-cores=1 --total-num-mbufs=8192 \
	--forward-mode=rxonly --rxq=1 --txq=0
starts "no Tx queues"
forwards "no Tx queues" ipackets
equal "no Tx queues: mbufs after the stop" "$(pmd_free)" 8192
pmd_quit
