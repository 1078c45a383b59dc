# Examples of DPDK's source package that ask for what the driver does not do: they hear why, and nothing worse happens.
# with: ptpclient symmetric_mp
# limit: 120
interface=privring program=$1
source "$(dirname "$0")/../lib.sh"

loop() {
	rxlab "$1" source=loop
}

# refused DIRECTORY WORDS EAL... -- ARGUMENTS: the program ends, or goes on, and the words are said
refused() {
	local path words=$2
	path=$("$tests/example" "$1") || fail "example $1 does not build"
	# shellcheck disable=SC2046
	background example stdbuf -oL "$path" "${lcores[@]}" $(eal) "${huge[@]}" "${@:3}"
	until_true 30 grep -aq "$words" "$tmp/example.log" || fail "nobody says: $words"
	if grep -aiE 'segmentation|sanitizer|assert' "$tmp/example.log"; then fail "it crashes"; fi
}

case $program in
ptpclient)
	lcores=(--lcores 0@1)
	refused ptpclient 'Timesync enable failed: -95' "$(loop 0)" -- -p 1 -T 0
	;;
symmetric_mp)
	lcores=(--lcores 0@0)
	refused multi_process/symmetric_mp 'Finished Process Init' "$(loop 0)" "$(loop 1)" --proc-type=primary -- -p 3 --num-procs=2 --proc-id=0
	# shellcheck disable=SC2046
	background second stdbuf -oL "$("$tests/example" multi_process/symmetric_mp)" --lcores 1@1 $(eal) --proc-type=secondary \
		-- -p 3 --num-procs=2 --proc-id=1
	until_true 30 grep -aq 'the rings belong to the primary process' "$tmp/second.log" || fail "the second process hears nothing"
	# The first one goes on.
	gone "${pids[0]}" && fail "the first process ended"
	equal "failed refills" "$(stat 0 rx_nombuf)" 0
	;;
esac
