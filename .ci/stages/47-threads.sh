#!/usr/bin/env bash
# A minute of frames in invoker mode, under every mix of threads that the API allows; each byte is checked. Ends with
# "N passed, N failed", as the other stages do.
# Limit: 400 s
#
#   STRESS_MS   how long each of the ten mixes lasts, default 6000, 1500 where only the few cases run
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

. .ci/cases.sh
log=$(mktemp)
trap 'rm -f -- "$log"' EXIT
status=0
./mvnw -Pcampaign -pl engine -am test -Dtest=ThreadMixTest -Dsurefire.failIfNoSpecifiedTests=false \
    -Dmaven.compiler.useIncrementalCompilation=false -Dframecast.stress.threading=INVOKER -Dframecast.stress.ms="${STRESS_MS:-$(is_few && echo 1500 || echo 6000)}" >"$log" 2>&1 || status=$?
if [ "$status" = 0 ] && grep -q 'Tests run: 10, Failures: 0, Errors: 0, Skipped: 0' "$log"; then
    passed=10
else
    tail -n 60 "$log"
    fail_case "status $status"
fi
end_cases
