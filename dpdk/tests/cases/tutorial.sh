# Every command of docs/tutorial.md, as it stands there.
# limit: 300
source "$(dirname "$0")/../lib.sh"
rxlab_program=$(realpath "${RXLAB:-$tests/../../target/release/rxlab}") || skip "needs rxlab: cargo build --release -p rxlab"
root=$(realpath "$tests/../..")
mkdir "$tmp/bin" "$tmp/place"
ln -s "$rxlab_program" "$tmp/bin/rxlab"

# The build is done, and the place is another one, so that nothing is left in the tree: neither files nor EAL's, which
# lie in the folder `dpdk` of $tmp.
cd "$tmp/place"
ln -s "$root/dpdk" dpdk
# What runs beside the commands ends with them, whatever happens.
echo "trap 'kill \$(jobs -p) 2>/dev/null || true' EXIT" >commands
sed -n 's/^    \$ //p' "$root/docs/tutorial.md" | grep -Ev '^(make|export) ' >>commands
(($(wc -l <commands) >= 8)) || fail "the tutorial has few commands"
PATH=$tmp/bin:$PATH bash -em commands >said.log 2>&1 || fail "a command of the tutorial ends with $?"
grep -q "1. the pool is too small" said.log || fail "the pool is not told of"
grep -q "set: --total-num-mbufs=4095" said.log || fail "the tutorial's line is not told"
# What is said in the end has no word of the pool.
! sed '1,/set: --total-num-mbufs/d' said.log | grep "pool is too small" || fail "the pool is still too small"
grep -q '"causes"' why.json || fail "no JSON"
