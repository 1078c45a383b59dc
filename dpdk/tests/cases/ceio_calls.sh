# recv, async_recv and post_recv of iface=ceio from a C program: order and content of each frame on both paths, mbufs of the
# application's own, every mbuf back in its pool. Without credits all frames are kept by the card; with few, flows
# change paths; with many, those of a flow that a rule marks as one that bypasses cores are kept, and no others.
# with: 0 20 3000
# limit: 120
interface=ceio credits=$1
source "$(dirname "$0")/../lib.sh"
program=$(compiled ceio)

# Flows are told apart by their hash: of 256 each of the eight has its own.
flows=4 more="" mark=0
if [[ $credits == 3000 ]]; then
	flows=256 more=+bypass_mark:7 mark=7
fi
lcores=(--lcores 0@1)
# shellcheck disable=SC2046
"${preload[@]}" "$program" "${lcores[@]}" $(eal) --vdev=net_rxlab0,source=pair:net_rxlab1 \
	"--vdev=net_rxlab1,iface=ceio:credits:$credits+flows:$flows$more,source=pair:net_rxlab0" "${small[@]}" -- --packets "${PACKETS:-20000}" --credits "$credits" --mark "$mark"
