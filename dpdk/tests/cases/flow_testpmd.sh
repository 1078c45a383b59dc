# testpmd's flow commands, unmodified: validate, create, list, query, destroy, flush, isolate, aged, indirect actions, and the asynchronous ones; what
# they do is seen by where the frames of a generator go.
# each: interface
# limit: 120
interface=$1
source "$(dirname "$0")/../lib.sh"

queues=4

# goes WORDS: which of the queues receive frames within a moment, such as "0 1 0 1"
goes() {
	local words=() count
	tell "clear port stats all"
	tell "start"
	sleep 0.3
	tell "stop"
	for count in $(stat 0 q_ipackets | cut -d' ' -f 1-$queues); do
		words+=($((count > 0)))
	done
	echo "${words[*]}"
}

must_go() { # WHAT WORDS
	equal "$1: queues that receive" "$(goes)" "$2"
}

flow() { # EXPECTED COMMAND
	local answer
	answer=$(ask "flow $2")
	grep -qE "$1" <<<"$answer" || fail "flow $2: $answer"
}

xstat() { # NAME
	ask "show port xstats 0" | sed -n "s/^$1: //p"
}

# Frames are told in the middle of prompts, so these are not waited for.
told() { # TEXT
	tell "set verbose 1"
	echo "start" >&"$pmd_in"
	until_true 10 grep -aq "$1" "$tmp/pmd.log" || fail "no frame with $1"
	echo "stop" >&"$pmd_in"
	echo "set verbose 0" >&"$pmd_in"
	until_true 10 grep -aq 'verbose level from 1 to 0' "$tmp/pmd.log" || fail "testpmd goes on telling frames"
	sleep 0.2
}

pmd "${small[@]}" "$(rxlab 0 "$(generator 64 256),rx_rate=0.002")" -- -i --nb-cores=1 --rxq=$queues --txq=$queues --rxd=256 \
	--txd=256 --total-num-mbufs=8192 --forward-mode=rxonly --rss-udp --print-event=flow_aged
must_go "no rule" "1 1 1 1"

flow 'Flow rule validated' "validate 0 ingress pattern eth / ipv4 / udp / end actions count / queue index 2 / end"
must_go "a rule that is only valid" "1 1 1 1"
flow 'Flow rule #0 created' "create 0 priority 1 ingress pattern eth / ipv4 / udp / end actions count / mark id 99 / queue index 2 / end"
must_go "queue" "0 0 1 0"
flow 'hits: [1-9]' "query 0 0 count"
flow 'ETH IPV4 UDP => COUNT MARK QUEUE' "list 0"

flow 'Flow rule #1 created' "create 0 priority 0 ingress pattern eth / ipv4 / end actions rss queues 1 3 end / end"
must_go "rss" "0 1 0 1"
flow 'Flow rule #2 created' "create 0 group 5 ingress pattern eth / end actions queue index 0 / end"
flow 'Flow rule #1 destroyed' "destroy 0 rule 1"
flow 'Flow rule #3 created' "create 0 priority 0 ingress pattern eth / end actions jump group 5 / end"
must_go "jump" "1 0 0 0"
flow 'Flow rule #4 created' "create 0 priority 0 ingress pattern eth / ipv4 / udp / end actions drop / end"
must_go "drop" "0 0 0 0"
(($(xstat rx_flow_drop) > 0)) || fail "no frame is counted as flow_drop"

flow 'the port has 4 Rx queues' "create 0 ingress pattern eth / end actions queue index 4 / end"
flow 'type 13 .*allowed are VOID' "create 0 ingress pattern eth / pppoes / end actions drop / end"
flow 'has this match at this priority' "create 0 priority 0 ingress pattern eth / ipv4 / udp / end actions drop / end"

tell "flow flush 0"
flow 'Flow rule #0 created' "create 0 ingress pattern eth / end actions mark id 99 / queue index 1 / end"
told 'FDIR matched ID=0x63'
tell "flow flush 0"
must_go "flush" "1 1 1 1"
flow 'restricted to the defined flow rules' "isolate 0 1"
must_go "isolated" "0 0 0 0"
(($(xstat rx_flow_miss) > 0)) || fail "no frame is counted as flow_miss"
flow 'Flow rule #0 created' "create 0 ingress pattern eth / ipv4 / end actions age timeout 1 / queue index 3 / end"
flow 'Flow rule #1 created' "create 0 ingress pattern eth / ipv6 / end actions age timeout 1 / queue index 3 / end"
must_go "isolated, with a rule" "0 0 0 1"
flow 'not restricted anymore' "isolate 0 0"
sleep 2
tell "start"
sleep 0.3
flow 'aged: 0' "query 0 0 age"
flow 'aged: 1' "query 0 1 age"
until_true 10 grep -aq 'Port 0: flow aged event' "$tmp/pmd.log" || fail "no event that a rule is old"
flow '^Flow +.1' "aged 0"
flow 'Flow rule #1 destroyed' "aged 0 destroy"
flow 'total aged flows: 0' "aged 0"
if ask "flow list 0" | grep -q '^1'; then fail "an old rule is still there"; fi
tell "stop"

tell "flow flush 0"
flow 'Indirect action #1 created' "indirect_action 0 create action_id 1 ingress action count / end"
flow 'Indirect action #2 created' "indirect_action 0 create action_id 2 ingress action rss queues 1 end / end"
flow 'Flow rule #0 created' "create 0 ingress pattern eth / ipv4 / end actions indirect 1 / indirect 2 / end"
must_go "an indirect RSS" "0 1 0 0"
flow 'hits: [1-9]' "indirect_action 0 query 1"
flow 'Indirect action #2 updated' "indirect_action 0 update 2 action rss queues 2 3 end / end"
must_go "an indirect RSS that was updated" "0 0 1 1"
flow 'have this indirect action: destroy them first' "indirect_action 0 destroy action_id 1"
tell "flow flush 0"
flow 'Indirect action #1 destroyed' "indirect_action 0 destroy action_id 1"
flow 'Indirect action #2 destroyed' "indirect_action 0 destroy action_id 2"

# testpmd takes a port's rules away when it stops it.
tell "port stop all"
flow 'Number of counters: 65536' "info 0"
flow 'Configure flows on port 0' "configure 0 queues_number 2 queues_size 16"
tell "port start all"
flow 'template #1 created' "pattern_template 0 create ingress pattern_template_id 1 template eth / ipv4 / udp / end"
flow 'template #1 created' "actions_template 0 create ingress actions_template_id 1 template count / queue / end mask count / queue / end"
flow 'table #1 created' "template_table 0 create table_id 1 ingress group 0 priority 2 rules_number 64 pattern_template 1 actions_template 1"
flow 'enqueued' "queue 0 create 1 template_table 1 pattern_template 0 actions_template 0 postpone yes pattern eth / ipv4 / udp / end actions count / queue index 3 / end"
must_go "postponed" "1 1 1 1"
flow 'pushed' "push 0 queue 1"
flow 'pulled 1 operations .0 failed, 1 succeeded' "pull 0 queue 1"
must_go "pushed" "0 0 0 1"
flow 'enqueued' "queue 0 destroy 1 postpone no rule 0"
must_go "destroyed" "1 1 1 1"
pmd_quit
