# One Rx queue that 2 to 4 threads poll at a time, more threads than CPUs: every frame comes through once and whole,
# while forwarders pause and go on, and the queue or the port stops and starts. PACKETS sets how many.
# with: corec ddring
# limit: 3600
interface=$1
source "$(dirname "$0")/../lib.sh"
program=$(compiled shared)
packets=${PACKETS:-1000000}

# On 2 CPUs: the main lcore and the NIC core on one, the client on the other, forwarders on both.
crew=(0@0,1@1,2@0,3@1 0@0,1@1,2@0,3@1,4@0 0@0,1@1,2@0,3@1,4@0,5@1)

share() { # THREADS FORWARDERS MEMORY... -- ARGUMENTS
	# shellcheck disable=SC2046
	"${preload[@]}" "$program" --lcores "${crew[$2 - 2]}" $(eal) --vdev=net_rxlab0,source=pair:net_rxlab1 \
		"$(rxlab 1 "source=pair:net_rxlab0,threads=$1,reorder=1")" "${@:3}"
}

for n in 2 3 4; do
	share $n $n "${huge[@]}" -- --packets "$packets" --seed $n
done
share 3 3 "${huge[@]}" -- --packets "$packets" --stops 1
share 4 4 "${huge[@]}" -- --packets "$packets" --stops 2
share 3 2 "${small[@]}" -- --packets "$((packets / 4))" --plain 1
share 2 3 "${small[@]}" -- --packets "$((packets / 4))" --refused 1 2>&1 | tee "$tmp/refused.log"
equal "lines that name the limit" "$(grep -c 'Rx queue 0.*allowed are threads=2' "$tmp/refused.log")" 1
