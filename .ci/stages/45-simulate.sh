#!/usr/bin/env bash
# The simulator on seeds that no test has: which ones follows from the commit, so that every commit tries others and the
# same commit the same. Ends with "N passed, N failed"; the printed command repeats a failure.
# Limit: 1500 s
#
#   SIMULATE_SEEDS   how many of each kind, default 600; of hosts with several processes 2000,
#                    of protected streams under attack 150; a fifth of these where only the few cases run
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

. .ci/cases.sh
share=$(is_few && echo 5 || echo 1)
seeds=${SIMULATE_SEEDS:-$((600 / share))}
host_seeds=${SIMULATE_SEEDS:-$((2000 / share))}
adversary_seeds=${SIMULATE_SEEDS:-$((150 / share))}
first=$((16#$(git rev-parse --short=7 HEAD 2>/dev/null || echo 1000000) + 1000000))

# simulate ARGUMENT…: the run must be clean, and must have had something to repair.
simulate() {
    local json status=0
    json=$(timeout --kill-after=15 400 ./framecast simulate --seeds "$first..$((first + seeds - 1))" --json - "$@") ||
        status=$?
    printf '%s\n' "$json"
    if [ "$status" = 0 ] && python3 -c '
import json, sys
result = json.loads(sys.argv[1])
sys.exit(0 if result["drops"] > 0 and result["repairs"] > 0 and result["frames"] > 0 else "nothing was repaired")
' "$json"; then
        pass "simulate --seeds $first..$((first + seeds - 1)) $*"
    else
        fail_case "status $status: framecast simulate --seeds $first..$((first + seeds - 1)) $*"
    fi
}

simulate --receivers 4
simulate --receivers 16 --loss 0.05 --crashes
seeds=$adversary_seeds simulate --receivers 4 --adversary
seeds=$adversary_seeds simulate --receivers 4 --adversary --crashes
seeds=$adversary_seeds simulate --receivers 4 --adversary --crashes --one-sided
seeds=$adversary_seeds simulate --receivers 3 --adversary --crashes --host-group 4
seeds=$host_seeds simulate --receivers 3 --host-group 4 --crashes
seeds=$host_seeds simulate --receivers 3 --host-group 4 --crashes --one-sided
end_cases
