# 1,000 lives of a port with changing queues and sizes, and 100 attachments and detachments, with traffic.
# each: interface
# with: loop pair
# limit: 600
interface=$1 joined=$2
source "$(dirname "$0")/../lib.sh"
program=$(compiled cycles)

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
"$program" "${lcores[@]}" $(eal) "${huge[@]}" "${ports[@]}" -- cycle 1000 1
# shellcheck disable=SC2046
"$program" "${lcores[@]}" $(eal) "${huge[@]}" -- attach 100 2 "${devices[@]}"
