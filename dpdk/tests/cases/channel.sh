# Two processes over a channel: frames in a loop between them and back, of every length; one of them is killed and comes
# back, and the other goes on. Then numbered frames with checksums between two ports of one process, copied and in place.
# limit: 300
interface=ccnic
source "$(dirname "$0")/../lib.sh"

wire=channel=$tmp/wire

# The other process: it sends back what it receives.
other() {
	[[ -p $tmp/other.in ]] || mkfifo "$tmp/other.in"
	exec {other_in}<>"$tmp/other.in"
	background other "${preload[@]}" dpdk-testpmd --lcores 0@0,1@0 -d "${driver##*/}" --no-pci --file-prefix="$prefix-other" \
		"${small[@]}" "$(rxlab 0 "$wire,channel_role=listen")" -- --nb-cores=1 --total-num-mbufs=8192 \
		--forward-mode=macswap --stats-period 1000 <&"$other_in"
	other_pid=$pid
}

link_is() {
	[[ $(telemetry /ethdev/link_status,0 status) == "$1" ]]
}

# The window of frames goes round, so that more came than it has.
goes_round() {
	tell "clear port stats 0"
	tell "start tx_first 8"
	until_true 60 at_least 0 ipackets 100000 || fail "frames of $1: $(stat 0 ipackets opackets | xargs)"
	tell "stop"
	equal "bad frames and failed refills, $1" "$(stat 0 ierrors rx_nombuf | xargs)" "0 0"
}

other
pmd "${small[@]}" "$(rxlab 0 "$wire,channel_role=connect")" -- -i --nb-cores=1 --total-num-mbufs=8192 --txd=512 --rxd=512 \
	--forward-mode=macswap --disable-device-start
equal "mbufs before the start" "$(pmd_free)" 8192
tell "port start all"
until_true 60 link_is UP || fail "no link"
goes_round "64 B"
tell "set txpkts 1518"
goes_round "1518 B"

kill -KILL "$other_pid"
wait "$other_pid" 2>/dev/null || true
until_true 10 link_is DOWN || fail "the link of a dead process is up"
other
until_true 60 link_is UP || fail "the other side is back, and there is no link"
tell "set txpkts 64,64,64"
goes_round "three segments"
tell "port stop all"
equal "mbufs after the stop" "$(pmd_free)" 8192
pmd_quit
kill -KILL "$other_pid"
wait "$other_pid" 2>/dev/null || true

lcores=(--lcores 0@0)
program=$(compiled channel)
for conf in layout:dense layout:group+back:clear layout:pad+ring:64+buffers:512+bytes:2048+events:off; do
	both=channel=$tmp/both,channel_conf=$conf
	for own in 0 1 3; do
		# shellcheck disable=SC2046
		"${preload[@]}" "$program" "${lcores[@]}" $(eal) "$(rxlab 0 "$both")" "$(rxlab 1 "$both")" "${small[@]}" -- \
			--packets "${PACKETS:-200000}" --own $own
	done
done
