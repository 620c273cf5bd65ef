#!/usr/bin/env bash
# What needs RDMA devices, in a guest that has them (docs/rdma.md). Skipped, and says why, where there can be no guest.
# Limit: 4800 s
# Beside: 50-cli
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

. .ci/cases.sh
if is_few; then
    export FRAMECAST_LAB_TESTS=left-out FRAMECAST_LAB_STREAMS=left-out FRAMECAST_LAB_DEMO=left-out
    leave_out 'tests, streams, chaos and demo over verbs' 'not among the few of .ci/run'
else
    export FRAMECAST_LAB_CHAOS=${FRAMECAST_LAB_CHAOS-7}
fi
log=$(mktemp)
trap 'rm -f -- "$log"' EXIT
status=0
rdma-transport/lab/verify.sh 2>&1 | tee "$log" || status=$?
if [ "$status" = 77 ]; then
    end_cases
fi
# The lab counts its own cases, and the tests that ran in the guest.
if [[ $(tail -n 1 "$log") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
    passed=${BASH_REMATCH[1]} failed=${BASH_REMATCH[2]}
fi
[ "$status" = 0 ] || [ "$failed" -gt 0 ] || fail_case "the lab ended with status $status"

# The bindings' layouts against the header that the lab has unpacked, for the host may have none.
headers=$(rdma-transport/lab/build.sh)/image/guest/usr/include
report=rdma-transport/target/surefire-reports/io.framecast.rdma.verbs.LayoutTest.txt
rm -f "$report"
# Nothing is compiled again, though modules' folders become jars.
FRAMECAST_VERBS_HEADERS=$headers ./mvnw -q -pl rdma-transport -am verify -Dtest=LayoutTest \
    -Dmaven.compiler.useIncrementalCompilation=false -Dsurefire.failIfNoSpecifiedTests=false || :
# Maven is content with tests that were skipped, but nothing was compared then.
if grep -qs 'Tests run: [1-9][0-9]*, Failures: 0, Errors: 0, Skipped: 0' "$report"; then
    pass 'layouts against the header of rdma-core'
else
    fail_case "layouts against the header of rdma-core were not compared: $(grep -s 'Tests run' "$report")"
fi
end_cases
