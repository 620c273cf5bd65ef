#!/usr/bin/env bash
# The protocol's model, exhaustively at small bounds, and bugs planted in it that must be found. Without spin
# the stage is skipped and says so.
# Limit: 1200 s
# Beside: 30-demo
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

. .ci/cases.sh
if is_few; then
    leave_out "models with many states" 'not among the few of .ci/run'
    # Quick ones of each model that hold, and bugs that must be found.
    few=('window larger than rings' 'judging: all may die' 'takeover: two die' 'credit passed' "a co-root's own receipt frees"
        'taken out when another dies' 'takeover one sequence late')
    MODEL_RUNS="@($(IFS='|' && printf '%s' "${few[*]}"))"
    export MODEL_RUNS
fi
status=0
reliability/src/model/check || status=$?
[ "$status" = 77 ] || exit "$status"
printf '0 passed, 0 failed\n'
