# A process under traffic is killed at a random moment, 50 times: each time the next one starts, and the last one
# works and stops with every buffer back.
# each: interface
# limit: 600
interface=$1
source "$(dirname "$0")/../lib.sh"
RANDOM=1

arguments=("${huge[@]}" "$(rxlab 0 source=loop)" "$(rxlab 1 "$(generator 64 4096)")" -- -i --nb-cores=1
	--rxq=4 --txq=4 --rxd=512 --txd=512 --total-num-mbufs=16384)

for _ in {1..50}; do
	pmd "${arguments[@]}"
	echo "start tx_first 8" >&"$pmd_in"
	# From before the first frame to a second of traffic; in between also stops and starts of queues.
	[[ $((RANDOM % 2)) = 0 ]] || echo "port 1 rxq 0 stop" >&"$pmd_in"
	sleep "0.$(printf %03d $((RANDOM % 1000)))"
	kill -KILL "$pmd_pid"
	wait "$pmd_pid" 2>/dev/null || true
	exec {pmd_in}>&-
done

pmd "${arguments[@]}" --disable-device-start
equal "mbufs before the start" "$(pmd_free)" 16384
tell "port start all"
tell "start tx_first 8"
until_true 30 at_least 0 ipackets 10000 || fail "nothing comes"
tell "stop"
tell "port stop all"
equal "mbufs after the stop" "$(pmd_free)" 16384
pmd_quit
