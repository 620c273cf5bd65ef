#!/usr/bin/env bash
# A minute of frames in invoker mode, under every mix of threads that the API allows; each byte is checked. Ends with
# "N passed, N failed", as the other stages do.
#
#   STRESS_MS   how long each of the ten mixes lasts, default 6000
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

log=$(mktemp)
trap 'rm -f -- "$log"' EXIT
status=0
./mvnw -Pcampaign -pl engine -am test -Dtest=ThreadMixTest -Dsurefire.failIfNoSpecifiedTests=false \
    -Dframecast.stress.threading=INVOKER -Dframecast.stress.ms="${STRESS_MS:-6000}" >"$log" 2>&1 || status=$?
if [ "$status" = 0 ] && grep -q 'Tests run: 10, Failures: 0, Errors: 0, Skipped: 0' "$log"; then
    printf '10 passed, 0 failed\n'
else
    tail -n 60 "$log"
    printf 'FAILED with status %d\n' "$status"
    exit 1
fi
