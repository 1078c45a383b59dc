# Wrong devargs: each fails the probe with a line that names the argument and what is allowed, and nothing leaks.
# limit: 120
interface=rxbisect
source "$(dirname "$0")/../lib.sh"

# DEVARGS, then an extended regular expression for the message.
table='
iface=none|iface.*none.*privring.*shring.*rxbisect.*dynamic
iface=|iface
iface=privring,iface=shring|iface.*more than once
iface=privring,sauce=loop|sauce.*allowed.*source
iface=privring,source=nowhere|source.*nowhere.*loop.*gen.*pcap.*port.*pair
iface=privring,source=gen:fixed:banana|source.*banana
iface=privring,source=gen:|source
iface=privring,source=pcap:/nonexistent.pcap|source.*/nonexistent.pcap
iface=privring,source=pcap:/etc/passwd|source.*/etc/passwd
iface=privring,source=pair:|source.*pair
iface=privring,source=pair:net_rxlab0|net_rxlab0
iface=privring,source=port:|source.*port
iface=privring,source=port:net_rxlab0|source.*net_rxlab0.*allowed
iface=privring,ax=64|ax
iface=privring,shared=2|shared
iface=shring,shared=0|shared.*0.*
iface=shring,shared=x|shared.*x
iface=shring,shared=65|shared=65.*1 to 64
iface=dynamic,shared=5000|shared=5000.*1 to 64
iface=shring,queues=4,shared=5|shared=5.*queues=4
iface=shring,ring=1000|ring.*1000.*power
iface=shring,ring=-1|ring.*-1
iface=dynamic,ax=64|ax.*rxbisect.*dynamic
iface=dynamic,ring=48|ring.*48.*power
iface=shring:rings:64|rings.*allowed.*ring .*shared_by .*unlock .*, : for =
iface=rxbisect:x:1|`x`.*allowed: ax .*alloc_queues .*, : for =
iface=shring:unlock:fast|unlock.*fast.*store, swap
iface=ceio:kind:fast|kind.*fast.*detected, involved, bypass
iface=ceio:bypass_mark:-1|bypass_mark.*-1.*none or a flow rule
iface=shring:ring:1000|ring.*1000.*power
iface=shring:shared_by:65|shared_by.*65.*1 to 64
iface=corec:shared_by:129|129.*1 to 128
iface=privring:ring:64|descriptors
iface=corec,threads=0|threads.*0.*1 to 128
iface=corec,threads=129|threads.*129.*1 to 128
iface=corec,shared=2|shared.*shring.*corec
iface=corec,refill=bulk|refill.*ddring.*corec
iface=ddring,refill=some|refill.*some.*each.*bulk
iface=privring,threads=2|threads.*corec.*privring
iface=privring,reorder=2|reorder.*2.*0 or 1
iface=rxbisect,emulate=2|emulate.*2.*0 or 1
iface=rxbisect,emulate=1|emulate=1.*source=port
iface=rxbisect,source=port:x,emulate=1,reorder=1|emulate=1.*reorder=0
iface=dynamic,source=port:x,emulate=1|emulate=1.*privring, shring.*rxbisect.*not iface=dynamic
iface=corec,source=port:x,emulate=1|emulate=1.*privring, shring.*rxbisect.*not iface=corec
iface=ddring,source=port:x,emulate=1|emulate=1.*privring, shring.*rxbisect.*not iface=ddring
iface=rxbisect,ax=0|ax.*0
iface=rxbisect,ax=100|ax.*100
iface=rxbisect,ax=99999999999999999999|ax.*99999999999999999999
iface=rxbisect,queues=0|queues.*1 to
iface=rxbisect,queues=1000|queues.*1000
iface=rxbisect,nic_cpu=1000000|nic_cpu.*1000000
iface=rxbisect,nic_cpu=x|nic_cpu.*x
iface=rxbisect,nic_idle=never|nic_idle.*never.*spin.*yield.*sleep
iface=rxbisect,nic_service=2|nic_service.*2
iface=rxbisect,rx_rate=fast|rx_rate.*fast
iface=rxbisect,rx_rate=-1|rx_rate.*-1.*allowed
iface=rxbisect,tx_rate=-5Gbps|tx_rate.*-5
iface=rxbisect,link_speed=3|link_speed=3.*2.5, 5, 10
iface=rxbisect,link_speed=0|link_speed=0.*2.5, 5, 10
iface=rxbisect,link_speed=10,rx_rate=25|link_speed=10.*no less than rx_rate=25
iface=rxbisect,mac=ff:ff:ff:ff:ff:ff|mac.*ff:ff
iface=rxbisect,mac=1|mac
iface=rxbisect,batch=0|batch.*0
iface=rxbisect,batch=32769|batch=32769.*1 to 32768
iface=rxbisect,batch=1000000|batch=1000000.*1 to 32768
iface=rxbisect,group=-1|group=-1.*0 to 64
iface=rxbisect,group=all|group=all.*0 to 64
iface=rxbisect,group=1000|group=1000.*0 to 64
iface=rxbisect,group=5,queues=4|group=5.*queues=4
iface=shring,group=2|group.*rxbisect.*shring
iface=rxbisect,timeout_ns=x|timeout_ns.*x
iface=rxbisect,channel=x|channel=x.*iface=rxbisect.*iface=ccnic
iface=ccnic,channel=|channel
iface=ccnic,channel=x,tx_rate=1|channel=x.*tx_rate
iface=ccnic,channel=x,nic_cpu=0|channel.*no NIC core
iface=ccnic,channel=x,ring=64|ring.*not iface=ccnic
iface=ccnic,channel=x,channel_role=server|channel_role=server.*either, listen or connect
iface=ccnic,channel=x,channel_conf=ring:63|channel_conf=ring:63.*power of two
iface=ccnic,channel_conf=ring:64|channel_conf.*channel=PATH
'

held() { # what the process holds: bytes of EAL's heap, threads, files
	telemetry /eal/heap_info,0 Alloc_size
	echo /proc/"$pmd_app"/task/* | wc -w
	find /proc/"$pmd_app"/fd -mindepth 1 | wc -l
}

pmd "${small[@]}" -- -i --total-num-mbufs=2048
pmd_app=$pmd_pid
# The first attachment may bring what stays for all that follow.
tell "port attach net_rxlab0,iface=$interface,source=loop"
tell "port detach 0"
before=$(held | xargs)

checked=0
while IFS='|' read -r devargs message; do
	[[ -n $devargs ]] || continue
	answer=$(ask "port attach net_rxlab0,$devargs")
	grep -Eq "net_rxlab0.*($message)" <<<"$(grep -v '^port attach' <<<"$answer")" || fail "$devargs: no message like '$message' in:" "$answer"
	! grep -q 'is attached' <<<"$answer" || fail "$devargs: the port is attached"
	checked=$((checked + 1))
done <<<"$table"
((checked > 30)) || fail "only $checked lines of the table"

equal "bytes of heap, threads and files" "$(held | xargs)" "$before"
tell "port attach net_rxlab0,iface=$interface,source=loop"
telemetry /ethdev/list | grep -q '\[0\]' || fail "a right port does not attach after the wrong ones"
pmd_quit
