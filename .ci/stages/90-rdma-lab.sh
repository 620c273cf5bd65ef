#!/usr/bin/env bash
# What needs RDMA devices, in a guest that has them (docs/rdma.md). Skipped, and says why, where there can be no guest.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

# Streams under all faults take seven minutes on an idle machine of two cores, and twenty on one that others share.
STREAMS_SECONDS=1500
export FRAMECAST_LAB_CHAOS=${FRAMECAST_LAB_CHAOS-7}
if [ $((${CI_DEADLINE:-99999999999} - $(date +%s))) -lt "$STREAMS_SECONDS" ]; then
    printf 'NOT RUN, for little time is left: copies, faults but loss, devices that go, chaos\n'
    export FRAMECAST_LAB_STREAMS='one_sided loss' FRAMECAST_LAB_CHAOS=
fi
status=0
rdma-transport/lab/verify.sh || status=$?
if [ "$status" = 77 ]; then
    printf '0 passed, 0 failed\n'
    exit 0
fi
# The bindings' layouts against the header that the lab has unpacked, for the host may have none.
headers=$(rdma-transport/lab/build.sh)/image/guest/usr/include
report=rdma-transport/target/surefire-reports/io.framecast.rdma.verbs.LayoutTest.txt
if [ "$status" = 0 ] && [ ! -e "$headers/rdma/rdma_cma.h" ]; then
    printf 'skipped: layouts against the header of rdma-core; no rdma/rdma_cma.h below %s\n' "$headers"
elif [ "$status" = 0 ]; then
    rm -f "$report"
    # Nothing is compiled again, though modules' folders become jars: the lab's tests were compiled from these sources.
    FRAMECAST_VERBS_HEADERS=$headers ./mvnw -q -pl rdma-transport -am verify -Dtest=LayoutTest \
        -Dmaven.compiler.useIncrementalCompilation=false -Dsurefire.failIfNoSpecifiedTests=false </dev/null || status=$?
    # Maven is content with tests that were skipped, but nothing was compared then.
    if [ "$status" = 0 ] && ! grep -q 'Tests run: [1-9].*Skipped: 0' "$report"; then
        printf 'failed: layouts against the header of rdma-core were not compared: %s\n' "$(grep 'Tests run' "$report")"
        status=1
    elif [ "$status" = 0 ]; then
        printf 'passed: layouts against the header of rdma-core\n'
    fi
fi
exit "$status"
