# Examples of DPDK's source package, unmodified, between two ports: what the one delivers, the other sends, but for what is
# under way. What comes is slow enough that a program which shares its CPU loses little, and what it loses is counted.
# each: interface
# with: basicfwd rxtx_callbacks link_status_interrupt l2fwd-event l2fwd-jobstats l2fwd-keepalive qos_meter distributor dmafwd l3fwd-graph ip_pipeline flow_filtering ip_fragmentation ip_reassembly ipv4_multicast jumbo_testpmd csum_testpmd l3fwd-power
# limit: 240
interface=$1 program=$2
source "$(dirname "$0")/../lib.sh"

# Frames until counters are compared.
least=5000
# Frames between the count of one port and that of another: rings, and what programs gather before they send.
under_way=2048

# example DIRECTORY EAL... -- ARGUMENTS: starts it in the background
example() {
	local path
	path=$("$tests/example" "$1") || fail "example $1 does not build"
	# shellcheck disable=SC2046
	background example "${preload[@]}" stdbuf -oL "$path" "${lcores[@]}" $(eal) "${huge[@]}" "${@:2}"
}

# What the program may still have, of what port IN delivered: adds_up IN OUT [OUT-FRAMES-PER-IN-FRAMES such as 3/1]
adds_up() {
	local in=$1 out=$2 times=${3:-1/1} sent delivered later
	reaches 40 "$in" ipackets $least
	reaches 20 "$out" opackets $least
	sent=$(stat "$out" opackets) delivered=$(stat "$in" ipackets)
	sleep 0.2
	later=$(($(stat "$out" opackets) + $(stat "$out" oerrors)))
	echo "port $in delivered $delivered, port $out had sent $sent, then $later"
	((sent * ${times#*/} <= (delivered + under_way) * ${times%/*})) || fail "port $out sends more than port $in delivers"
	((delivered * ${times%/*} <= (later + under_way) * ${times#*/})) || fail "port $out sends less than port $in delivers"
	equal "port $in: bad frames" "$(stat "$in" ierrors)" 0
	equal "port $out: failed sends" "$(stat "$out" oerrors)" 0
}

# reaches SECONDS PORT FIELD NUMBER
reaches() {
	until_true "$1" has_come "${@:2}" || fail "port $2: $3 is $(stat "$2" "$3") after $1 s"
}

has_come() {
	gone "$pid" && fail "the program ended"
	at_least "$@" 2>/dev/null
}

# A port that makes frames at some Gbps.
makes() { # N LENGTH [RATE]
	rxlab "$1" "$(generator "$2" 64),rx_rate=${3:-0.01}$threads"
}

# A port that plays a capture.
plays() { # N ADDRESS BYTES [MTU]
	python3 "$tests/frames.py" write "$tmp/in$1.pcap" "$2" "$3" 500 ${4:+"$4"}
	rxlab "$1" "source=pcap:$tmp/in$1.pcap,rx_rate=${rate:-0.05}$threads"
}

# A port that records what it sends.
records() { # N
	rxlab "$1" "source=port:net_pcap$1$threads"
	echo "--vdev=net_pcap$1,tx_pcap=$tmp/out$1.pcap"
}

# quiet N: a port to which nothing comes
quiet() {
	rxlab "$1" "$(generator 64 1),rx_rate=0.000000001$threads"
}

# What was recorded so far is looked at.
ends() {
	kill -KILL "$pid"
	wait "$pid" || true
}

# Whether the driver itself complained.
silent() {
	if grep -aiE 'net_rxlab: .*(allowed|does not|cannot)' "$tmp/example.log"; then fail "the driver complains"; fi
}

# What ceio's card keeps in its memory is delivered to its queue: 512 frames here.
[[ $interface != ceio ]] || interface=ceio:nic_memory:1
# Frames in several mbufs are one thread's.
threads=
[[ $interface != corec ]] || threads=,threads=1
scatters() {
	[[ $interface != ceio:* ]] || skip "ceio keeps the order of a flow: no frames in several mbufs"
}

case $program in
basicfwd)
	lcores=(--lcores 0@1)
	example skeleton "$(makes 0 64)" "$(makes 1 1500)"
	adds_up 0 1
	adds_up 1 0
	;;
rxtx_callbacks)
	lcores=(--lcores 0@1)
	example rxtx_callbacks "$(makes 0 64)" "$(makes 1 64)"
	adds_up 0 1
	;;
link_status_interrupt)
	example link_status_interrupt "$(makes 0 64)" "$(makes 1 64)" -- -p 3 -q 2 -T 1
	adds_up 0 1
	;;
l2fwd-event)
	example l2fwd-event "$(makes 0 64)" "$(makes 1 64)" -- -p 3 -q 2 -T 0 --mode=poll
	adds_up 0 1
	;;
l2fwd-jobstats)
	example l2fwd-jobstats "$(makes 0 64)" "$(makes 1 64)" -- -p 3 -q 2 -l
	adds_up 0 1
	;;
l2fwd-keepalive)
	lcores=(--lcores 0@0,1@1,2@1)
	example l2fwd-keepalive "$(makes 0 64)" "$(makes 1 64)" -- -p 3 -q 1 -T 0 -K 10000
	adds_up 0 1
	;;
qos_meter)
	lcores=(--lcores 0@1)
	example qos_meter "$(makes 0 64)" "$(quiet 1)" -- -p 3
	# It polices: green and yellow frames go on, red ones it drops.
	reaches 40 1 opackets 5000
	sent=$(stat 1 opackets)
	((sent <= $(stat 0 ipackets))) || fail "it sends more than comes"
	;;
distributor)
	lcores=(--lcores 0@0,1@1,2@1,3@0,4@1,5@1)
	example distributor "$(makes 0 64 0.005)" "$(makes 1 64 0.005)" -- -p 3
	# Its workers send each frame to the other port of the pair, as far as its rings have room.
	# Six lcores that spin share the CPUs.
	reaches 90 1 opackets 300
	sent=$(stat 1 opackets)
	((sent <= $(stat 0 ipackets))) || fail "it sends more than comes"
	;;
dmafwd)
	lcores=(--lcores 0@0,1@1)
	example dma "$(makes 0 64)" "$(quiet 1)" -- -p 3 -q 1 -c sw --no-mac-updating
	# A port is its own partner there.
	adds_up 0 0
	;;
l3fwd-graph)
	example l3fwd-graph "$(plays 0 198.18.1.7 64)" "$(quiet 1)" -- -p 3 -P --config="(0,0,1),(1,0,1)"
	adds_up 0 1
	;;
ip_pipeline)
	scatters
	cat >"$tmp/l2fwd.cli" <<-'END'
		mempool MEMPOOL0 buffer 2304 pool 32K cache 256 cpu 0
		link LINK0 dev net_rxlab0 rxq 1 128 MEMPOOL0 txq 1 512 promiscuous on
		link LINK1 dev net_rxlab1 rxq 1 128 MEMPOOL0 txq 1 512 promiscuous on
		pipeline PIPELINE0 period 10 offset_port_id 0 cpu 0
		pipeline PIPELINE0 port in bsz 32 link LINK0 rxq 0
		pipeline PIPELINE0 port in bsz 32 link LINK1 rxq 0
		pipeline PIPELINE0 port out bsz 32 link LINK0 txq 0
		pipeline PIPELINE0 port out bsz 32 link LINK1 txq 0
		pipeline PIPELINE0 table match stub
		pipeline PIPELINE0 table match stub
		pipeline PIPELINE0 port in 0 table 0
		pipeline PIPELINE0 port in 1 table 1
		thread 1 pipeline PIPELINE0 enable
		pipeline PIPELINE0 table 0 rule add match default action fwd port 1
		pipeline PIPELINE0 table 1 rule add match default action fwd port 0
	END
	example ip_pipeline "$(makes 0 64)" "$(makes 1 2200)" -- -s "$tmp/l2fwd.cli"
	adds_up 0 1
	adds_up 1 0
	;;
flow_filtering)
	# It makes a rule: what goes to 192.168.1.1 goes to queue 1.
	rate=0.005
	example flow_filtering "$(plays 0 192.168.1.1 64)"
	reaches 40 0 ipackets 2000
	all=$(stat 0 ipackets) ruled=$(telemetry /ethdev/xstats,0 rx_q1_delivered)
	((ruled > 0 && ruled + under_way >= all)) || fail "$ruled frames of $all went to queue 1"
	# What came before the rule was there may have gone elsewhere.
	grep -a -c 'queue=0x1' "$tmp/example.log"
	;;
ip_fragmentation)
	scatters
	rate=0.1 least=2000
	lcores=(--lcores 0@1)
	# shellcheck disable=SC2046
	example ip_fragmentation "$(plays 0 100.20.0.7 4014)" $(records 1) -- -p 3 -q 2
	adds_up 0 1 3/1
	ends
	read -r packets frames < <(python3 "$tests/frames.py" check "$tmp/out1.pcap" 4014)
	((packets > 500 && frames <= 3 * (packets + under_way))) || fail "$packets packets in $frames frames"
	;;
ip_reassembly)
	scatters
	rate=0.1 least=2000
	lcores=(--lcores 0@1)
	# Its tables and mbufs are for thousands of packets that lack fragments.
	huge=(--no-huge -m 900)
	# shellcheck disable=SC2046
	example ip_reassembly "$(plays 0 100.20.0.7 4014 1500)" $(records 1) -- -p 3 -q 2 --maxflows=1024 --flowttl=10s
	adds_up 0 1 1/3
	ends
	read -r packets frames < <(python3 "$tests/frames.py" check "$tmp/out1.pcap" 4014)
	((packets > 500 && packets == frames)) || fail "$packets packets in $frames frames"
	;;
ipv4_multicast)
	scatters
	rate=0.1 least=2000
	lcores=(--lcores 0@1)
	# To ports 0 and 1: what comes to port 0 leaves through both.
	# shellcheck disable=SC2046
	example ipv4_multicast "$(plays 0 224.0.0.103 4014)" $(records 1) -- -p 3 -q 2
	adds_up 0 1
	adds_up 0 0
	ends
	read -r packets frames < <(python3 "$tests/frames.py" check "$tmp/out1.pcap" 4014)
	((packets > 500 && packets == frames)) || fail "$packets packets in $frames frames"
	;;
jumbo_testpmd)
	scatters
	pmd "${huge[@]}" "$(rxlab 0 "source=loop$threads")" -- -i --nb-cores=1 --max-pkt-len=9000 --tx-offloads=0x8000 --total-num-mbufs=8192 \
		--forward-mode=txonly --txpkts=2000,2000,2000,1000 --disable-device-start
	free=$(pmd_free)
	tell "port start all"
	tell "start"
	until_true 20 at_least 0 opackets 5000 || fail "nothing leaves"
	tell "stop"
	tell "set fwd rxonly"
	tell "set txpkts 64"
	tell "start"
	sleep 1
	tell "stop"
	equal "bytes of a frame" "$(($(stat 0 ibytes) / $(stat 0 ipackets)))" 7000
	equal "frames received or dropped" "$(($(stat 0 ipackets) + $(stat 0 imissed)))" "$(stat 0 opackets)"
	equal "bad frames and failed refills" "$(stat 0 ierrors rx_nombuf | xargs)" "0 0"
	tell "port stop all"
	equal "mbufs after the stop" "$(pmd_free)" "$free"
	pmd_quit
	;;
csum_testpmd)
	# The checksums that it makes come back in its own frames, and are looked at then.
	pmd "${huge[@]}" "$(rxlab 0 "$(generator 200 64),rx_rate=0.05")" "$(rxlab 1 source=loop)" -- -i --nb-cores=1 --rxq=1 --txq=1 \
		--total-num-mbufs=8192 --forward-mode=csum
	tell "port stop all"
	for port in 0 1; do
		tell "csum set ip hw $port"
		tell "csum set udp hw $port"
		tell "csum set tcp hw $port"
	done
	tell "port start all"
	tell "start"
	until_true 20 at_least 1 opackets 5000 || fail "nothing leaves"
	said=$(ask "stop")
	bad=$(grep -ao 'Bad-[a-z0-9]*csum: [0-9]*' <<<"$said" | awk '{ n += $2 } END { print n + 0 }')
	equal "bad checksums" "$bad" 0
	equal "failed sends" "$(stat 1 oerrors)" 0
	pmd_quit
	;;
l3fwd-power)
	# Its lcore sleeps between frames: a thousand per second, one by one, cost it little CPU.
	rate=0.0007
	example l3fwd-power "$(plays 0 2.1.1.7 64)" "$(quiet 1)" -- -p 3 -P --config="(0,0,1),(1,0,1)" --interrupt-only
	under_way=64
	reaches 40 1 opackets 3000
	sent=$(stat 1 opackets) delivered=$(stat 0 ipackets)
	((sent <= delivered && delivered <= $(stat 1 opackets) + under_way)) || fail "port 1 sends $sent of $delivered"
	grep -aq 'wakeup from' "$tmp/example.log" || grep -aiq 'wakes\? *up\|sleeps until interrupt' "$tmp/example.log" || fail "it never sleeps"
	;;
esac
[[ ! -f $tmp/example.log ]] || silent
