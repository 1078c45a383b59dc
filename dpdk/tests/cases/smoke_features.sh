# The guide's table of features is what a port tells and its calls answer. P stands for what not all ports have, or not all of.
# limit: 60
interface=privring
source "$(dirname "$0")/../lib.sh"

# shellcheck disable=SC2046
"${preload[@]}" "$(compiled features)" "${lcores[@]}" $(eal) "${small[@]}" "$(rxlab 0 source=loop)" >"$tmp/said.log" 2>&1 ||
	fail "features ends with $?"
python3 - "$tests/../doc/features/rxlab.ini" "$tmp/said.log" <<'END'
import re, sys

table = open(sys.argv[1]).read().split("[rte_flow items]")[0]
table = dict(re.findall(r"^([^;\n=]*?) *= *([YP])$", table, re.M))
port = dict(re.findall(r"^feature (.*?) *= ([YN])$", open(sys.argv[2]).read(), re.M))
# What no call tells.
said = {"Multiprocess aware", "Linux", "x86-64", "Usage doc"}
wrong = [f"{name}: the table has none, the port has it" for name, has in port.items() if has == "Y" and name not in table]
wrong += [f"{name}: the table has it, the port has none" for name, has in port.items() if has == "N" and name in table]
wrong += [f"{name}: nothing of the port tells" for name in table if name not in port and name not in said]
print(f"{len(port)} features asked")
sys.exit("\n".join(wrong) or (0 if len(port) > 45 else "too few features"))
END
