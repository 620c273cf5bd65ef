#!/usr/bin/env bash
# The tests that the bare machine skipped, once more where their tools are. Without reports of an earlier run it runs
# `./mvnw verify` whole. Fails where a test is skipped for a reason that is not in .ci/skips for such a machine.
# Limit: 900 s
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

. .ci/cases.sh
start=$(mktemp)
log=$(mktemp)
trap 'rm -f -- "$start" "$log"' EXIT
mapfile -t classes < <(grep -l '<skipped' {*,*/*}/target/surefire-reports/TEST-*.xml 2>/dev/null |
    sed 's/.*TEST-\(.*\)\.xml/\1/')
chosen=()
if [ ${#classes[@]} -gt 0 ]; then
    printf '%d classes have skipped tests\n' ${#classes[@]}
    chosen=(-Dtest="$(IFS=, && printf '%s' "${classes[*]}")" -Dsurefire.failIfNoSpecifiedTests=false)
fi
status=0
# Nothing is compiled again, though modules' folders become jars.
./mvnw verify -fae -Dmaven.compiler.useIncrementalCompilation=false "${chosen[@]}" >"$log" 2>&1 || status=$?
show_maven "$log"
count_tests . tools "$status" "$start"
end_cases
