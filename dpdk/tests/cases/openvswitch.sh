# Open vSwitch with DPDK, started beside the system's own: what one port makes, a bridge switches to the other; plain, and
# with hw-offload, where rules of rte_flow mark the frames of each flow.
# each: interface
# with: plain offload
# limit: 180
interface=$1 mode=$2
[[ $mode != offload || $interface = privring ]] || { echo "marks are the same on each interface"; exit 77; }
source "$(dirname "$0")/../lib.sh"

export OVS_RUNDIR=$tmp OVS_LOGDIR=$tmp OVS_DBDIR=$tmp OVS_SYSCONFDIR=$tmp
vsctl=(ovs-vsctl --timeout=60 --db="unix:$tmp/db.sock")
ofctl=(ovs-ofctl -O OpenFlow13)

ovsdb-tool create "$tmp/conf.db" /usr/share/openvswitch/vswitch.ovsschema
background ovsdb ovsdb-server "$tmp/conf.db" --remote="punix:$tmp/db.sock" --unixctl="$tmp/ovsdb.ctl"
until_true 10 test -S "$tmp/db.sock" || fail "no database server"

# On 2 CPUs: the polling thread on one, the main thread and the NIC core on the other.
"${vsctl[@]}" --no-wait init -- set Open_vSwitch . other_config:dpdk-init=true other_config:dpdk-lcore-mask=0x1 \
	other_config:hw-offload="$([[ $mode = offload ]] && echo true || echo false)" other_config:pmd-cpu-mask=0x2 other_config:dpdk-socket-mem=200 other_config:dpdk-socket-limit=200 \
	other_config:dpdk-extra="$(eal)"
background vswitchd /usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk "unix:$tmp/db.sock" --unixctl="$tmp/vswitchd.ctl" -vconsole:info
vswitchd=$pid
"${vsctl[@]}" add-br br0 -- set bridge br0 datapath_type=netdev

port() { # NUMBER ARGUMENTS
	local devargs
	devargs=$(rxlab "$@")
	"${vsctl[@]}" add-port br0 "p$1" -- set Interface "p$1" type=dpdk ofport_request=$(($1 + 1)) options:n_rxq=2 \
		options:dpdk-devargs="${devargs#--vdev=}"
	equal "error of p$1" "$("${vsctl[@]}" get Interface "p$1" error)" "[]"
}

port 0 "$(generator 64 64)"
port 1 "$(generator 1500 64)"
"${ofctl[@]}" del-flows br0
"${ofctl[@]}" add-flow br0 in_port=1,actions=output:2
"${ofctl[@]}" add-flow br0 in_port=2,actions=output:1

counted() { # INTERFACE STATISTIC
	"${vsctl[@]}" get Interface "$1" "statistics:$2" 2>/dev/null || echo 0
}

# sent INTERFACE: the interface has sent many frames
sent() {
	(($(counted "$1" tx_packets) > 100000))
}

until_true 60 sent p1 || fail "p1 has sent $(counted p1 tx_packets) frames"
until_true 60 sent p0 || fail "p0 has sent $(counted p0 tx_packets) frames"
for n in 1 2; do
	"${ofctl[@]}" dump-flows br0 "in_port=$n" | grep -Eq 'n_packets=[0-9]{6,}' || fail "the flow of port $n has few frames"
done
offloaded() {
	(($(ovs-appctl --target="$tmp/vswitchd.ctl" dpctl/dump-flows -m type=partially-offloaded | grep -c in_port) == 2))
}
if [[ $mode = offload ]]; then
	until_true 10 offloaded || fail "flows are not offloaded"
	for n in 0 1; do
		(($(telemetry "/rxlab/info,$n" flow_rules) > 0)) || fail "p$n has no rules"
	done
fi
equal "errors of p0 and p1" "$(counted p0 rx_errors) $(counted p1 rx_errors)" "0 0"

# Ports go while traffic flows, and come again.
"${vsctl[@]}" del-port br0 p0
port 0 "$(generator 64 64)"
before=$(counted p1 tx_packets)
more() { (($(counted p1 tx_packets) > before + 100000)); }
until_true 60 more || fail "nothing flows from a port that came again"
"${vsctl[@]}" del-port br0 p0
"${vsctl[@]}" del-port br0 p1
ovs-appctl --target="$tmp/vswitchd.ctl" exit --cleanup
ended "$vswitchd" 30
