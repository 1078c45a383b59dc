# DPDK's own tests of what lies over a port, in dpdk-test: link, adapters of event devices, rates, latencies, dumps, and the
# cycles of a burst. (Those of the Rx adapter take a mempool of 1.3 GB.)
# with: ethdev_link_status event_eth_tx_adapter_autotest bitratestats_autotest latencystats_autotest pdump_autotest pmd_perf_autotest
# limit: 120
interface=privring test=$1
source "$(dirname "$0")/../lib.sh"
command -v dpdk-test >/dev/null || skip "needs dpdk-test"

ports=("$(rxlab 0 source=loop)")
case $test in
event_eth_tx*) ports+=("$(rxlab 1 source=loop)" --vdev=event_sw0) ;;
# It takes twice the frames that the link carries in a second.
pmd_perf*) ports=("$(rxlab 0 source=loop,link_speed=0.1)") ;;
esac
lcores=(--lcores 0@0,1@1,2@1)
# shellcheck disable=SC2046
printf '%s\nquit\n' "$test" | timeout 100 "${preload[@]}" stdbuf -oL dpdk-test "${lcores[@]}" $(eal) "${huge[@]}" "${ports[@]}" >"$tmp/test.log" 2>&1 ||
	fail "dpdk-test ends with $?"
grep -aq 'Test OK' "$tmp/test.log" || {
	tail -n 30 "$tmp/test.log"
	grep -aq 'Test Skipped' "$tmp/test.log" && skip "dpdk-test skips $test"
	fail "$test"
}
tail -n 12 "$tmp/test.log"
if grep -aiE 'sanitizer|runtime error' "$tmp/test.log"; then fail "$test complains"; fi
