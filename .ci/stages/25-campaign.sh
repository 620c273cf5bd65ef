#!/usr/bin/env bash
# The long tests: simulations, races, processes, chaos (those tagged `campaign`).
# Limit: 1800 s
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

. .ci/cases.sh
if is_few; then
    leave_out 'the campaign' 'not among the few of .ci/run'
    end_cases
fi
start=$(mktemp)
log=$(mktemp)
trap 'rm -f -- "$start" "$log"' EXIT
status=0
./mvnw -T1 verify -fae -Pcampaign -Dmaven.compiler.useIncrementalCompilation=false >"$log" 2>&1 || status=$?
show_maven "$log"
count_tests . tools "$status" "$start"
end_cases
