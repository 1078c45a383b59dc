# The NIC core in each of its forms: a thread that spins, yields or sleeps, alone on a CPU or beside an lcore, and a
# DPDK service; two ports share one. Queues stop and start, and the port, with every buffer back in the pool.
# with: spin yield sleep beside service
# limit: 120
interface=rxbisect form=$1
source "$(dirname "$0")/../lib.sh"

case $form in
spin | yield | sleep) nic=nic_cpu=0,nic_idle=$form ;;
beside) nic=nic_cpu=1 ;; # the CPU of the forwarding lcore
service) nic=nic_service=1 lcores=(--lcores 0@0,1@1,2@0 -S 2) ;;
esac

pmd "${small[@]}" "$(rxlab 0 "source=loop,$nic")" "$(rxlab 1 "source=loop,$nic")" -- -i --disable-device-start --nb-cores=1 \
	--rxq=2 --txq=2 --rxd=256 --txd=256 --total-num-mbufs=16384 --forward-mode=flowgen

flows() { # PORT: frames come back on it, from now on
	until_true 20 at_least "$1" ipackets $(($(stat "$1" ipackets) + 1000)) || fail "nothing comes on port $1"
}

for _ in 1 2 3; do
	tell "port start all"
	tell "start"
	flows 0
	flows 1
	tell "stop"
	tell "port 0 rxq 1 stop"
	tell "port 1 txq 0 stop"
	tell "port 0 rxq 1 start"
	tell "port 1 txq 0 start"
	tell "start"
	flows 0
	flows 1
	tell "stop"
	tell "port stop all"
	equal "mbufs after the stop" "$(pmd_free)" 16384
done
pmd_quit
