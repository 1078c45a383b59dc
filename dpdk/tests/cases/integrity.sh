# Order and integrity of frames over a loop and over a pair of ports, without pauses of queues and with them: none
# corrupted, duplicated or out of order; those lost are those that the driver counts. PACKETS sets how many there are in the
# longest run; all those with pauses have half as many again.
# each: interface
# with: loop pair
# limit: 3600
interface=$1 joined=$2
source "$(dirname "$0")/../lib.sh"
program=$(compiled integrity)
packets=${PACKETS:-2000000}

# On 2 CPUs: two workers share one, the main lcore and the NIC core the other.
lcores=(--lcores 0@0,1@1,2@1)

case $joined in
loop) ports=("$(rxlab 0 source=loop)") ;;
pair) ports=("$(rxlab 0 source=pair:net_rxlab1)" "$(rxlab 1 source=pair:net_rxlab0)") ;;
esac

transfer() { # MEMORY... -- ARGUMENTS
	# shellcheck disable=SC2046
	"${preload[@]}" "$program" "${lcores[@]}" $(eal) "${ports[@]}" "$@"
}

transfer "${huge[@]}" -- --packets "$((packets / 4))" --queues 4 --pauses 0
transfer "${huge[@]}" -- --packets "$packets" --queues 8 --seed 2
transfer "${small[@]}" -- --packets "$((packets / 2))" --queues 2 --seed 3
