# The NIC core as a service: a program that leaves its ports to EAL ends well, and a port that went comes back.
# limit: 60
interface=rxbisect
source "$(dirname "$0")/../lib.sh"
command -v dpdk-test >/dev/null || skip "needs dpdk-test"
grep -q hugetlbfs /proc/mounts || skip "needs a hugetlbfs: without huge pages, freed memory of EAL can be read"

port() {
	rxlab 0 source=loop,nic_service=1
}

# EAL ends its services first, then removes the devices. With and without a service core; the device removed before makes
# EAL give the services' memory back.
for services in "" "-S 2"; do
	# shellcheck disable=SC2046,SC2086
	echo quit | "${preload[@]}" dpdk-test --lcores 0@0,1@1,2@1 $services $(eal) -m 100 --vdev=event_sw7 "$(port)" >"$tmp/exit.log" 2>&1 ||
		fail "dpdk-test ${services:-without service cores} ends with status $?"
done

flows() {
	local before
	tell "start"
	before=$(stat 0 ipackets)
	until_true 20 at_least 0 ipackets $((before + 1000)) || fail "$1: nothing comes"
	tell "stop"
}

lcores=(--lcores 0@0,1@1,2@0 -S 2)
pmd "${small[@]}" "$(port)" -- -i --nb-cores=1 --total-num-mbufs=8192 --forward-mode=flowgen
flows "the first time"
for _ in 1 2 3; do
	tell "port stop 0"
	tell "port detach 0"
	vdev=$(port)
	ask "port attach ${vdev#--vdev=}" | grep -q 'is attached' || fail "the port does not come back"
	tell "port start 0"
	flows "attached again"
done
pmd_quit
