# Staged programs, and what `rxlab why` says of them: the right cause first, and none where nothing is wrong.
# with: pool queue core transmit rings long down well
# limit: 120
interface=privring stage=$1
source "$(dirname "$0")/../lib.sh"
rxlab_program=${RXLAB:-$tests/../../target/release/rxlab}
[[ -x $rxlab_program ]] || skip "needs rxlab: cargo build --release -p rxlab, or RXLAB=PROGRAM"
# Where a core has to be fast enough, others on this machine are to have no part in it: time goes by session first.
first_of_all=()
case $stage in
queue | transmit | rings) first_of_all=(setsid bash -c 'echo -20 >/proc/self/autogroup; exec nice -n -20 "$@"' first_of_all) ;;
esac
preload+=("${first_of_all[@]}")

# record NAME: what the program tells, into $tmp/NAME.dump
record() {
	"${first_of_all[@]}" "$rxlab_program" why --file-prefix "$prefix" --record "$tmp/$1.dump" >/dev/null || fail "why ended with $?"
	[[ -z ${RXLAB_DUMPS:-} ]] || cp "$tmp/$1.dump" "$RXLAB_DUMPS/$stage-$1.json"
}

# explain NAME OPTIONS...: what is said of it; as JSON in $tmp/NAME.json, for people in the log
explain() {
	"$rxlab_program" why --telemetry "$tmp/$1.dump" --json "${@:2}" >"$tmp/$1.json" || fail "why ended with $?"
	"$rxlab_program" why --telemetry "$tmp/$1.dump" "${@:2}" | tee "$tmp/$1.log"
}

# why NAME OPTIONS...: both
why() {
	record "$1"
	explain "$@"
}

# first NAME: the cause of most frames and its port, or `none`
first() {
	python3 -c 'import json, sys
causes = json.load(open(sys.argv[1]))["causes"]
print(causes[0]["cause"], causes[0]["port"]) if causes else print("none")' "$tmp/$1.json"
}

# says NAME CAUSE WORDS...: the cause comes first, and the text has each of the words
says() {
	equal "first cause" "$(first "$1")" "$2"
	local word text
	text=$(tr -s ' \n' '  ' <"$tmp/$1.log" | tr -s ' ')
	for word in "${@:3}"; do
		[[ $text == *"$word"* ]] || fail "'$word' is not said"
	done
	[[ -z ${RXLAB_SAID:-} ]] || { printf '\n%s, of %s\n\n' "$stage" "$1" && cat "$tmp/$1.log"; } >>"$RXLAB_SAID"
}

testpmd() { # VDEV... -- OPTIONS...
	pmd --no-huge -m 500 "$@" --no-flush-rx -a
}

# l3fwd on two ports, an lcore for each of the two queues of the first; all leaves through the second, and is gone.
l3fwd() { # RATE-GBPS
	local l3fwd
	l3fwd=$("$tests/example" l3fwd)
	printf 'R0.0.0.0/1 1\nR128.0.0.0/1 1\n' >"$tmp/v4"
	echo 'R2001:0200:0000:0000:0000:0000:0000:0000/48 1' >"$tmp/v6"
	# shellcheck disable=SC2046
	background l3fwd "${preload[@]}" "$l3fwd" --lcores 0@0,1@1,2@0 $(eal) "${small[@]}" \
		"$(rxlab 0 "$(generator 64 4096),rx_rate=$1")" "$(rxlab 1 "$(generator 64 1),rx_rate=0.000000001")" \
		-- -p 3 -P --config="(0,0,1),(0,1,2),(1,0,2)" --rule_ipv4="$tmp/v4" --rule_ipv6="$tmp/v6"
	until_true 60 at_least 1 opackets 1000 || fail "port 1 sends $(stat 1 opackets)"
}

# Open vSwitch with two ports, each on a generator.
openvswitch() { # SOURCE-OF-0 SOURCE-OF-1
	export OVS_RUNDIR=$tmp OVS_LOGDIR=$tmp OVS_DBDIR=$tmp OVS_SYSCONFDIR=$tmp
	local vsctl=(ovs-vsctl --timeout=60 --db="unix:$tmp/db.sock") n source
	ovsdb-tool create "$tmp/conf.db" /usr/share/openvswitch/vswitch.ovsschema
	background ovsdb ovsdb-server "$tmp/conf.db" --remote="punix:$tmp/db.sock" --unixctl="$tmp/ovsdb.ctl"
	until_true 10 test -S "$tmp/db.sock" || fail "no database server"
	"${vsctl[@]}" --no-wait init -- set Open_vSwitch . other_config:dpdk-init=true other_config:dpdk-lcore-mask=0x1 \
		other_config:pmd-cpu-mask=0x2 other_config:dpdk-socket-mem=200 other_config:dpdk-socket-limit=200 \
		other_config:dpdk-extra="$(eal)"
	background vswitchd "${preload[@]}" /usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk "unix:$tmp/db.sock" \
		--unixctl="$tmp/vswitchd.ctl" -vconsole:info
	"${vsctl[@]}" add-br br0 -- set bridge br0 datapath_type=netdev
	for n in 0 1; do
		source=$(rxlab $n "$1")
		shift
		"${vsctl[@]}" add-port br0 "p$n" -- set Interface "p$n" type=dpdk ofport_request=$((n + 1)) options:n_rxq=2 \
			options:dpdk-devargs="${source#--vdev=}"
		equal "error of p$n" "$("${vsctl[@]}" get Interface "p$n" error)" "[]"
	done
	ovs-ofctl -O OpenFlow13 del-flows br0
	ovs-ofctl -O OpenFlow13 add-flow br0 in_port=1,actions=output:2
	ovs-ofctl -O OpenFlow13 add-flow br0 in_port=2,actions=output:1
}

pool() {
	# A receive ring takes all mbufs but 26; a burst on its way is longer.
	testpmd "$(rxlab 0 "$(generator 64 64),rx_rate=1")" -- -i --rxd=1024 --txd=1024 --total-num-mbufs=1050 --mbcache=0 \
		--forward-mode=io
	until_true 10 at_least 0 rx_nombuf 1
	why rxlab --server rxbisect-testbed
	says rxlab "pool_too_small 0" "rx_failed_refills" "set: --total-num-mbufs=4095" "a pool for full rings"
	pmd_quit
	# DPDK's own TAP driver counts otherwise. Its ring takes all mbufs but one; what comes while testpmd stands still is more.
	testpmd --vdev=net_tap0,iface=rxw$$ -- -i --rxd=1024 --txd=1024 --total-num-mbufs=1025 --mbcache=0 --forward-mode=io
	ip addr add 10.99.99.1/24 dev rxw$$
	why tap >"$tmp/tap.said" &
	local asked=$! round
	for round in 1 2 3; do
		tell stop
		ping -b -f -c 200 -w 1 -q 10.99.99.255 >/dev/null 2>&1 || true
		tell start
	done
	wait "$asked"
	says tap "pool_too_small 0" "rx_nombuf" "set: --total-num-mbufs=4095"
}

queue() {
	# Most frames are of one flow. Each takes its lcore some look-ups, twice as many until the one with that flow is behind.
	lcores=(--lcores 0@0,1@1,2@0)
	local reads
	for ((reads = 100; reads <= 102400; reads *= 2)); do
		testpmd "$(rxlab 0 "source=gen:fixed:64+flows:64+zipf:3,rx_rate=0.14")" -- -i --nb-cores=2 --rxq=2 --txq=2 --rxd=1024 \
			--txd=1024 --total-num-mbufs=16384 --forward-mode=noisy --noisy-lkup-memory=100 --noisy-lkup-num-reads=$reads
		until_true 2 at_least 0 imissed 1000 && break
		pmd_quit
	done
	why testpmd
	says testpmd "queue_imbalance 0" "rx_ring_full" "polled by lcore" "--rxq=4 --txq=4 --nb-cores=4"
}

core() {
	# Twenty others on the CPU of one lcore: it waits longer for its turn than its ring lasts.
	l3fwd 0.042
	local n
	for ((n = 0; n < 20; n++)); do
		background "other$n" taskset -c 1 sh -c 'while :; do :; done'
	done
	until_true 20 at_least 0 imissed 1000
	why l3fwd
	says l3fwd "slow_core 0" "queue 0, polled by lcore 1," "waited" "others run there" "--lcores with another CPU"
}

transmit() {
	testpmd "$(rxlab 0 "$(generator 64 64),rx_rate=0.05")" "$(rxlab 1 source=loop,tx_rate=0.005)" -- -i --rxd=2048 --txd=512 \
		--total-num-mbufs=8192 --forward-mode=io
	until_true 10 at_least 0 ipackets 10000
	why testpmd
	says testpmd "transmit_blocked 1" "frames of all ports and sent" "port 1 sends"
}

rings() {
	# Four rings of 4096 for frames of 1500 B. Each takes its lcore some look-ups, more until it is behind. Here that is the
	# CPU, and so it is told for a server with room for all of it. A small server is described as well: 1 MiB for DDIO, and
	# one channel of DDR4-1600, which cannot carry frames that leave the cache. This machine has neither DDIO nor such a
	# memory, so that it is that server's rings is what the model says of its description.
	local profiles=$tests/../../profiles reads
	sed -e 's/^name = .*/name = "small"/' -e 's/^slices = .*/slices = 4/' \
		-e 's/^peak_gbytes = .*/peak_gbytes = { value = 12.8, origin = "published: one channel of DDR4-1600" }/' \
		"$profiles/corec-testbed.toml" >"$tmp/small.toml"
	for ((reads = 60; reads <= 960; reads *= 2)); do
		testpmd "$(rxlab 0 "$(generator 1500 4096),rx_rate=40")" -- -i --nb-cores=1 --rxq=4 --txq=4 --rxd=4096 --txd=2048 \
			--total-num-mbufs=60000 --forward-mode=noisy --noisy-lkup-memory=10 --noisy-lkup-num-reads=$reads
		until_true 2 at_least 0 imissed 100000 && break
		pmd_quit
	done
	record testpmd
	pmd_quit
	explain testpmd --server "$tmp/small.toml"
	says testpmd "rings_beyond_ddio 0" "of DDIO ways" "set: --rxd=" "I/O working set"
	explain testpmd --server spr
	says testpmd "too_little_cpu 0" "set: --rxq="
}

long() {
	# Buffers of an MTU of 1500 B, and frames of 3000.
	openvswitch "$(generator 64 64),rx_rate=0.005" "$(generator 3000 64),rx_rate=0.05"
	until_true 30 at_least 1 ierrors 100 || fail "no long frames"
	why openvswitch
	says openvswitch "frames_too_long 1" "rx_bad_frame" "mtu_request"
}

down() {
	# DPDK's own TAP driver, whose device the kernel takes down.
	testpmd "$(rxlab 0 "$(generator 64 64),rx_rate=0.01")" --vdev=net_tap0,iface=rxw$$ -- -i --rxd=2048 --txd=512 \
		--total-num-mbufs=8192 --forward-mode=io
	until_true 10 at_least 0 ipackets 1000
	ip link set rxw$$ down
	why tap
	says tap "port_down 1" "its link is DOWN" "set link-up port 1"
	pmd_quit
}

well() {
	# What is on its way comes back: it cannot overflow anything.
	pmd "${small[@]}" "$(rxlab 0 source=loop)" -- -i --rxd=512 --txd=512 --total-num-mbufs=8192 --forward-mode=io
	tell "start tx_first"
	until_true 10 at_least 0 ipackets 100000
	why testpmd --server rxbisect-testbed
	says testpmd none "Nothing is dropped"
	pmd_quit
	l3fwd 0.005
	why l3fwd
	says l3fwd none "Nothing is dropped"
	kill -INT "$pid"
	ended "$pid" 30
	openvswitch "$(generator 64 64),rx_rate=0.005" "$(generator 1500 64),rx_rate=0.05"
	until_true 30 at_least 1 opackets 1000 || fail "p1 sends nothing"
	why openvswitch
	says openvswitch none "Nothing is dropped"
}

"$stage"
