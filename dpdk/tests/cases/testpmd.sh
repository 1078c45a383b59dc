# testpmd in one forwarding mode, with 1 to 8 queues: frames flow through every queue, none is lost to an error,
# and the pool is as full after the stop as before the start.
# each: interface
# with: io mac 5tswap rxonly txonly flowgen csum
# limit: 300
interface=$1 mode=$2
source "$(dirname "$0")/../lib.sh"

mbufs=32768
frames=20000

# Modes that make frames of their own get them back; the others are fed.
case $mode in
txonly | flowgen) source=source=loop ;;
*) source=$(generator 64 4096) ;;
esac

case $mode in
txonly) counter=opackets queue_counter=q_opackets ;;
*) counter=ipackets queue_counter=q_ipackets ;;
esac

every_queue() {
	local count
	for count in $(stat 0 $queue_counter | cut -d' ' -f 1-"$queues"); do
		((count > 0)) || return 1
	done
}

forward() { # QUEUES MEMORY...
	local queues=$1
	pmd "${@:2}" "$(rxlab 0 "$source")" -- -i --disable-device-start --nb-cores=1 --rxq="$queues" --txq="$queues" \
		--rxd=512 --txd=512 --total-num-mbufs=$mbufs --forward-mode="$mode" --txonly-multi-flow
	equal "mbufs before the start" "$(pmd_free)" $mbufs
	ask "port start all" | grep -q Done || fail "the port does not start"
	tell "start"
	until_true 30 at_least 0 $counter $frames || fail "$queues queues: $counter is $(stat 0 $counter) after 30 s"
	until_true 10 every_queue || fail "$queues queues: frames per queue: $(stat 0 $queue_counter)"
	tell "stop"
	equal "failed refills" "$(stat 0 rx_nombuf)" 0
	equal "bad frames" "$(stat 0 ierrors)" 0
	equal "failed sends" "$(stat 0 oerrors)" 0
	tell "port stop all"
	equal "$queues queues: mbufs after the stop" "$(pmd_free)" $mbufs
	pmd_quit
}

for queues in 1 2 4 8; do
	forward $queues "${huge[@]}"
done
forward 4 "${small[@]}"
