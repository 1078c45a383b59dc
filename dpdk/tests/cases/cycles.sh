# 1,000 lives of a port with changing queues and sizes, and 100 attachments and detachments, with traffic.
# each: interface
# with: loop pair
# limit: 600
# ROUNDS: lives; a tenth as many attachments.
interface=$1 joined=$2
source "$(dirname "$0")/../lib.sh"
program=$(compiled cycles)
rounds=${ROUNDS:-1000}

# On 2 CPUs: two workers share one, the main lcore and the NIC core the other.
lcores=(--lcores 0@0,1@1,2@1)

case $joined in
loop)
	ports=("$(rxlab 0 source=loop)")
	devices=(net_rxlab8 "iface=$interface,source=loop")
	;;
pair)
	ports=("$(rxlab 0 source=pair:net_rxlab1)" "$(rxlab 1 source=pair:net_rxlab0)")
	devices=(net_rxlab8 "iface=$interface,source=pair:net_rxlab9" net_rxlab9 "iface=$interface,source=pair:net_rxlab8")
	;;
esac

# shellcheck disable=SC2046
"${preload[@]}" "$program" "${lcores[@]}" $(eal) "${huge[@]}" "${ports[@]}" -- cycle "$rounds" 1
# shellcheck disable=SC2046
"${preload[@]}" "$program" "${lcores[@]}" $(eal) "${huge[@]}" -- attach $((rounds / 10)) 2 "${devices[@]}"
