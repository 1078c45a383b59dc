# The first thing to work: testpmd without huge pages sends frames through a loop and gets them back, on two queues,
# and stops with every buffer in the pool.
# each: interface
# limit: 60
interface=$1
source "$(dirname "$0")/../lib.sh"

pmd "${small[@]}" "$(rxlab 0 source=loop)" -- -i --disable-device-start --nb-cores=1 --rxq=2 --txq=2 --rxd=256 --txd=256 \
	--total-num-mbufs=8192 --forward-mode=flowgen
equal "mbufs before the start" "$(pmd_free)" 8192
tell "port start all"
tell "start"
both_queues() {
	[[ $(stat 0 q_ipackets) =~ ^[1-9][0-9]*\ [1-9] ]]
}
until_true 20 both_queues || fail "frames per queue: $(stat 0 q_ipackets)"
tell "stop"
equal "bad frames and failed refills" "$(stat 0 ierrors rx_nombuf | xargs)" "0 0"
tell "port stop all"
equal "mbufs after the stop" "$(pmd_free)" 8192
pmd_quit
