# What rte_flow's calls do: each item and action, what is refused and which part is named, templates, threads that change
# rules while frames flow, four that insert and one that destroys, the event that rules are old, actions that
# rules share, and what is left after a close.
# each: interface
# limit: 240
interface=$1
source "$(dirname "$0")/../lib.sh"
program=$(compiled flow)

# On 2 CPUs: frames on one, rules and the NIC core on the other.
lcores=(--lcores 0@1)
# shellcheck disable=SC2046
"${preload[@]}" "$program" "${lcores[@]}" $(eal) "${small[@]}" "$(rxlab 0 source=loop,nic_cpu=0)"
