# What a program may ask of a port: its link's speed.
# limit: 60
interface=privring
source "$(dirname "$0")/../lib.sh"

speed() { # PORT
	telemetry "/ethdev/link_status,$1" speed
}

pmd "${small[@]}" "$(rxlab 0 source=loop)" "$(rxlab 1 "$(generator 64 16),rx_rate=7,tx_rate=12")" \
	"$(rxlab 2 source=loop,link_speed=2.5)" -- -i --nb-cores=1 --total-num-mbufs=8192
equal "speed of a link without rates" "$(speed 0)" 100000
equal "speed of a link with rates" "$(speed 1)" 20000
equal "speed of a link that was given one" "$(speed 2)" 2500
pmd_quit
