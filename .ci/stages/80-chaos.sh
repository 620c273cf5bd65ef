#!/usr/bin/env bash
# `framecast chaos` on real processes: 40 s of faults with a seed from the commit, as many on hosts with three processes
# each, then runs with something broken on purpose, which must be found. Ends with "N passed, N failed".
# Limit: 3000 s
#
#   CHAOS_SECONDS   how long faults are done, default 40, 15 where only the few cases run
#   CHAOS_SEED      default: from the commit
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

. .ci/cases.sh
# shellcheck disable=SC2034 # read by is_wanted
FEW=(faults 'a frame left out is found')
SECONDS_OF_FAULTS=${CHAOS_SECONDS:-$(is_few && echo 15 || echo 40)}
# Beyond the faults: starting, joining, ending, and what the last fault takes.
RUN_SECONDS=$((SECONDS_OF_FAULTS + 480))

[ "$(id -u)" = 0 ] || skip 'network namespaces need root'
for tool in ip nft; do
    command -v "$tool" >/dev/null || skip "$tool is missing"
done
trial=fcc-trial-$$
if ! ip netns add "$trial" 2>/dev/null; then
    skip 'network namespaces cannot be made here'
fi
tried=0
ip netns exec "$trial" nft 'add table inet t; add chain inet t c { type filter hook input priority 0; };
    add rule inet t c meta l4proto udp numgen random mod 100 < 1 drop' 2>/dev/null || tried=1
ip netns delete "$trial"
[ "$tried" = 0 ] || skip 'nftables cannot drop at random here'

seed=${CHAOS_SEED:-$((16#$(git rev-parse --short=8 HEAD 2>/dev/null || echo 1)))}
log=$(mktemp)
trap 'rm -f -- "$log"' EXIT
# A machine that others use too may stand still for seconds.
patience=(--alive-timeout 8000 --margin 10000)

# expect STATUS WORDS NAME ARGUMENT…: runs chaos; prints all its output where the exit status is another, or where the
# words are absent.
expect() {
    local wanted=$1 words=$2 name=$3 status=0
    shift 3
    is_wanted "$name" || return 0
    timeout --kill-after=15 "$RUN_SECONDS" ./framecast chaos --seed "$seed" "${patience[@]}" "$@" >"$log" 2>&1 || status=$?
    if [ "$status" = "$wanted" ] && grep -q -- "$words" "$log"; then
        passed=$((passed + 1))
        printf 'passed: %s: %s\n' "$name" "$(tail -n 1 "$log")"
    else
        failed=$((failed + 1))
        printf 'FAILED: %s: exit status %d, expected %d and "%s"\n' "$name" "$status" "$wanted" "$words"
        cat "$log"
    fi
}

# Builds what is not built, so that no case counts that as its own time.
timeout --kill-after=5 600 ./framecast --version >/dev/null
printf 'seed %s\n' "$seed"
expect 0 'every expectation met' faults --seconds "$SECONDS_OF_FAULTS"
expect 0 'every expectation met' 'faults, three processes on a host' \
    --seconds "$SECONDS_OF_FAULTS" --subscribers 6 --per-host 3
expect 1 'NOT MET: subscriber 0: frames missing before frame' 'a frame left out is found' --seconds 1 --plant SKIP
expect 1 'NOT MET: subscriber 0: twice or out of order: frame' 'a frame given twice is found' --seconds 1 --plant TWICE
expect 1 'NOT MET: subscriber 0: frame [0-9]* \(and its metadata\|differs\)' 'a byte changed is found' --seconds 1 --plant FLIP
expect 1 'was not evicted within' 'a process that was not killed is found' --seconds 12 --plant SPARE
end_cases
