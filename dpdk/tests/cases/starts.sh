# A port that lacks mbufs does not start and keeps none, nor does a queue; one whose mempool runs dry counts that; a
# counter that is reset never reads as negative.
# each: interface
# limit: 120
interface=$1
source "$(dirname "$0")/../lib.sh"
program=$(compiled starts)

# On 2 CPUs: the reader and the NIC core on one, the receiver and the one that resets on the other.
lcores=(--lcores 0@0,1@1,2@1)

# shellcheck disable=SC2046
"${preload[@]}" "$program" "${lcores[@]}" $(eal) "${huge[@]}" "$(rxlab 0 source=loop)" -- short
if [[ $interface = corec || $interface = ddring ]]; then
	# shellcheck disable=SC2046
	"${preload[@]}" "$program" "${lcores[@]}" $(eal) "${huge[@]}" "$(rxlab 0 source=loop,threads=3)" -- short
fi
# shellcheck disable=SC2046
"${preload[@]}" "$program" "${lcores[@]}" $(eal) "${huge[@]}" "$(rxlab 0 source=loop)" -- dry
# shellcheck disable=SC2046
"${preload[@]}" "$program" "${lcores[@]}" $(eal) "${huge[@]}" "$(rxlab 0 "$(generator 64 64)")" -- reset
