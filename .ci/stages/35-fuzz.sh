#!/usr/bin/env bash
# The fuzz tests (docs/fuzzing.md), guided by coverage for a short time: FRAMECAST_FUZZ_SECONDS for each group, 8 where
# that is not set. Prints how to reproduce each finding. With arguments: these groups alone.
# Limit: 900 s
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

. .ci/cases.sh
seconds=${FRAMECAST_FUZZ_SECONDS:-8}
work=$PWD/target/fuzz
java=${JAVA25_HOME:-${JAVA_HOME:-}}/bin/java
[ -x "$java" ] || java=java

# What a group is of: module and class. Tests of one group share its time.
declare -A groups=(
    [wire]='reliability:reliability.wire.ControlDatagramFuzzTest reliability:reliability.receive.DataDatagramFuzzTest
        reliability:reliability.session.SessionFuzzTest engine:engine.udp.EndpointFuzzTest
        engine:engine.aeron.PeerAddressFuzzTest rdma-transport:rdma.RdmaAddressFuzzTest'
    [options]='api:api.ChannelFuzzTest samples:samples.input.OptionTextFuzzTest perf:perf.bench.PlanFuzzTest'
    [codecs]='engine:engine.codec.FormatFuzzTest engine:engine.codec.KryoFuzzTest'
    [host]='engine:engine.hostgroup.HostSegmentFuzzTest engine:engine.hostgroup.GroupMessageFuzzTest
        engine:engine.clients.ClientRingFuzzTest'
    [files]='engine:engine.metrics.CounterFileFuzzTest engine:engine.crypto.KeyFileFuzzTest'
)

# A test that no group names would never run here.
for file in */src/test/java/io/framecast/*/*FuzzTest.java */src/test/java/io/framecast/*/*/*FuzzTest.java; do
    [ -e "$file" ] || continue
    class=${file#*/src/test/java/io/framecast/}
    class=${class%.java}
    class=${class//\//.}
    [[ ${groups[*]} == *:"$class"* ]] || { printf 'failed: no group in %s names %s\n' "${BASH_SOURCE[0]}" "$class"; exit 1; }
done

# Nothing is compiled again, though modules' jars have become folders.
./mvnw -q -Pfuzz -Dmaven.compiler.useIncrementalCompilation=false test-compile </dev/null

# The last number behind a word of the fuzzer's lines.
last() {
    grep -aoE "$1 ?[0-9]+" "$2" | tail -n 1 | grep -oE '[0-9]+$' || printf '0\n'
}

# fuzz MODULE CLASS SECONDS: runs one test, and says nothing.
fuzz() {
    local module=$1 class=io.framecast.$2 limit=$3 name=${2##*.} folder corpus log
    folder=$work/$name corpus=$work/$name/corpus log=$work/$name/log
    rm -f -- "$folder"/crash-* "$folder"/timeout-* "$folder"/oom-*
    mkdir -p -- "$corpus"
    # Instrumented by Jazzer's agent: what the product is made of, and the readers that it hands hostile bytes to.
    (
        cd -- "$module"
        timeout --kill-after=15 $((limit + 120)) "$java" -Xmx2g -XX:+UseSerialGC -XX:+EnableDynamicAgentLoading \
            -Dfile.encoding=UTF-8 @../framecast.args \
            -cp "target/test-classes:target/classes:$(cat target/fuzz-classpath):$work/lib/*" \
            com.code_intelligence.jazzer.Jazzer --target_class="$class" --reproducer_path="$folder" \
            --instrumentation_includes='io.framecast.**:com.fasterxml.jackson.**:com.esotericsoftware.kryo.**:picocli.**' \
            --custom_hook_includes='io.framecast.**' \
            -artifact_prefix="$folder/" -max_total_time="$limit" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
            "$corpus" "src/test/fuzz/$name"
    ) >"$log" 2>&1 </dev/null
}

# report MODULE CLASS SECONDS STATUS: what that run ended with.
report() {
    local module=$1 limit=$3 status=$4 name=${2##*.} folder log finding
    folder=$work/$name log=$work/$name/log
    if [ "$status" = 0 ]; then
        pass "$(printf '%s: %s executions in %s s, %s edges, %s features' "$name" \
            "$(last 'number_of_executed_units:' "$log")" "$limit" "$(last 'cov:' "$log")" "$(last 'ft:' "$log")")"
        return
    fi
    fail_case "$name, status $status; all of it is in $log"
    grep -aA 25 -E '^== (Java Exception|libFuzzer)|^==.*ERROR' "$log" | grep -vE '^INFO' | head -n 60 || tail -n 40 "$log"
    finding=$(compgen -G "$folder/crash-*" || compgen -G "$folder/timeout-*" || compgen -G "$folder/oom-*" || :)
    if [ -n "$finding" ]; then
        finding=$(head -n 1 <<<"$finding")
        printf '\nTo reproduce it without the fuzzer:\n'
        printf '    base64 -d <<<%s >%s/src/test/fuzz/%s/found-it\n' "$(base64 -w 0 <"$finding")" "$module" "$name"
        printf "    ./mvnw test -pl %s -am -Dtest=%s -Dsurefire.failIfNoSpecifiedTests=false\n" "$module" "$name"
    fi
}

if is_few; then
    set -- wire
    leave_out 'fuzz tests of options, codecs, host segments and files' 'not among the few of .ci/run'
fi
runs=()
for group in "${@:-wire options codecs host files}"; do
    for one in $group; do
        [ -n "${groups[$one]:-}" ] || { printf 'failed: expected some of: %s; got %s\n' "${!groups[*]}" "$one"; exit 2; }
        read -ra tests <<<"$(tr -s ' \n' ' ' <<<"${groups[$one]}")"
        each=$((seconds / ${#tests[@]}))
        for test in "${tests[@]}"; do
            runs+=("${test%%:*} ${test#*:} $((each > 3 ? each : 3))")
        done
    done
done
# As many side by side as there are CPUs, for each has one thread; four at most, for each takes up to 2 GB.
lanes=$(nproc)
lanes=$((lanes < 4 ? lanes : 4))
for ((first = 0; first < ${#runs[@]}; first += lanes)); do
    pids=()
    for run in "${runs[@]:first:lanes}"; do
        # shellcheck disable=SC2086 # three words
        fuzz $run &
        pids+=($!)
    done
    for n in "${!pids[@]}"; do
        status=0
        wait "${pids[n]}" || status=$?
        # shellcheck disable=SC2086 # three words
        report ${runs[first + n]} "$status"
    done
done
end_cases
