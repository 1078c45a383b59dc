# What ethdev's calls do: states of descriptors, mbufs of every kind, flags, RSS, filters, refusals, deferred starts, link.
# each: interface
# limit: 60
interface=$1
source "$(dirname "$0")/../lib.sh"
program=$(compiled ethdev)

# shellcheck disable=SC2046
"${preload[@]}" "$program" "${lcores[@]}" $(eal) "${huge[@]}" "$(rxlab 0 source=loop)" -- loop
# shellcheck disable=SC2046
"${preload[@]}" "$program" "${lcores[@]}" $(eal) "${huge[@]}" "$(rxlab 0 source=pair:net_rxlab1)" \
	"$(rxlab 1 source=pair:net_rxlab0)" -- pair
