# The smoke test, then integrity, the life of a port, several threads on a queue, ethdev's and rte_flow's calls,
# frames in several mbufs and offloads, a channel, the calls of ceio, with the driver's C part built with AddressSanitizer and
# UndefinedBehaviorSanitizer (make dpdk-asan).
# each: interface
# with: smoke integrity cycles shared emulated ethdev offloads flow channel ceio_calls
# limit: 300
set -euo pipefail
cd "$(dirname "$0")"
export RXLAB_DRIVER=$PWD/../../build-asan/librte_net_rxlab.so
RXLAB_PRELOAD=$(cc -print-file-name=libasan.so)
export RXLAB_PRELOAD PACKETS=200000 ROUNDS=100
# Long enough that each of more threads than CPUs has had its turn.
[[ $2 != shared ]] || PACKETS=2000000
# EAL and the programs keep memory to their end; the driver's own is counted by cycles.
export ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1
# The sanitizer's shadow memory is larger than any limit.
ulimit -Sd unlimited
arguments=("$1")
[[ $2 != emulated || $1 =~ ^(privring|shring|rxbisect)$ ]] || { echo "$1 is not emulated"; exit 77; }
[[ $2 != shared || $1 =~ ^(corec|ddring)$ ]] || { echo "one thread at a time polls a queue of $1"; exit 77; }
[[ $2 != channel || $1 == ccnic ]] || { echo "$1 has no channel"; exit 77; }
[[ $2 =~ ^(smoke|shared|emulated|ethdev|offloads|flow|channel|ceio_calls)$ ]] || arguments+=(loop)
[[ $2 != ceio_calls || $1 == ceio ]] || { echo "$1 has no calls of its own"; exit 77; }
[[ $2 != ceio_calls ]] || arguments=(3000)
bash "$2.sh" "${arguments[@]}"
