# rx_rate, whatever the source, and tx_rate: at one bit per second the first frame passes, or the first burst of a port
# below, and the others wait. So again after a restart.
# with: gen loop pair port tx
# limit: 60
interface=privring source=$1
source "$(dirname "$0")/../lib.sh"

rate=0.000000001
case $source in
gen) vdevs=("$(rxlab 0 "$(generator 64 16),rx_rate=$rate")") ;;
loop) vdevs=("$(rxlab 0 "source=loop,rx_rate=$rate")") ;;
pair) vdevs=("$(rxlab 0 "source=pair:net_rxlab1,rx_rate=$rate")" "$(rxlab 1 "source=pair:net_rxlab0,rx_rate=$rate")") ;;
port) vdevs=("$(rxlab 0 "source=port:net_null0,rx_rate=$rate")" --vdev=net_null0) ;;
tx) vdevs=("$(rxlab 0 "source=loop,tx_rate=$rate")") ;;
esac

# Frames that the wire has carried: the first may have come before the link was up or the port promiscuous.
carried() {
	telemetry /rxlab/info,0 delivered link_down filtered | awk '{ n += $1 } END { print n }'
}

carries() { # NUMBER
	(($(carried) >= $1))
}

pmd "${small[@]}" "${vdevs[@]}" -- -i --nb-cores=1 --total-num-mbufs=8192 --port-topology=loop --forward-mode=flowgen
most=1
[[ $source != port ]] || most=64 # a burst
for round in 1 2; do
	tell "start"
	until_true 20 carries "$round" || fail "round $round: nothing comes"
	tell "stop"
	(($(carried) <= round * most)) || fail "round $round: $(carried) frames"
	tell "port stop all"
	tell "port start all"
done
pmd_quit
