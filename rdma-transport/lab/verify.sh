#!/usr/bin/env bash
# Proves what needs RDMA devices: the network itself by a C program, then all tests tagged `rdma`, then streams of real
# processes under faults, then the demo over verbs. In a guest with Soft-RoCE (build.sh, run.sh), or on this host, where
# it has a device of its own that is to be used. Ends with "N passed, N failed"; exit status 77 and a line "skipped: …" where neither can be had.
#
#   FRAMECAST_RDMA_DEVICE   a device of this host, such as mlx5_0, or several with commas between: no guest
#   FRAMECAST_LAB_DEMO      left-out: without the demo
#   FRAMECAST_LAB_STREAMS   left-out: without the streams; else which, as streams.sh takes it
#   FRAMECAST_LAB_CHAOS     a seed: with chaos over verbs (docs/chaos.md)
#   FRAMECAST_LAB_TESTS     left-out: without the tests; else which: options of JUnit's ConsoleLauncher, default all that are tagged,
#                           such as --include-classname=.*RdmaDatagramTest
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
cd -- "$here/../.."

# Where tests tagged `rdma` are.
MODULES=(rdma-transport samples)
DEVICES=(rxe1 rxe2 rxe3)
DEMO=${FRAMECAST_LAB_DEMO:-required}
STREAMS=${FRAMECAST_LAB_STREAMS:-}
CHAOS=${FRAMECAST_LAB_CHAOS:-}
CHAOS_SECONDS=40
# 10 MB that are the same each time, whole frames of 256 KiB.
FRAMES_SEED=20
FRAMES=40
device=${FRAMECAST_RDMA_DEVICE:-}
work=$here/target/verify

passed=0
failed=0

skip() {
    printf 'skipped: %s\n' "$1"
    exit 77
}

# count PASSED FAILED
count() {
    passed=$((passed + $1))
    failed=$((failed + $2))
}

# count_last FILE STATUS WHAT: counts what a script counted that ends with "N passed, N failed".
count_last() {
    local last
    last=$(tail -n 1 "$1")
    if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
        count "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
    else
        count 0 1
        printf 'FAILED: %s: status %d\n' "$3" "$2"
    fi
}

# Built here, not in the guest, where that takes minutes; and so are the archives of classes of benches and of streams.
build_tool() {
    timeout --kill-after=15 300 ./framecast --version >/dev/null
    timeout --kill-after=15 300 ./framecast publish --help >/dev/null
}

# in_lab SECONDS COMMAND…: where the devices are; $work is the same directory here and there.
in_lab() {
    local seconds=$1
    shift
    if [ -n "$device" ]; then
        timeout --kill-after=15 "$seconds" "$@" </dev/null
    else
        "$here/run.sh" -t "$seconds" -d ${#DEVICES[@]} -w "$work" -- "$@"
    fi
}

# of_pom NAME: a property of the build.
of_pom() {
    sed -n "s|.*<$1>\(.*\)</$1>.*|\1|p" pom.xml
}

# The guest itself: what a command says and how it ends comes out, and what it writes stays there.
guest() {
    local status=0 probe=$here/target/probe
    [ -z "$device" ] || return 0
    # shellcheck disable=SC2016 # Expanded there.
    "$here/run.sh" -t 600 -d 0 -- sh -c 'echo said; echo complained >&2; touch "$1" && [ -e "$1" ] && exit 7' sh "$probe" \
        >"$work/said" 2>"$work/complained" || status=$?
    if [ "$status" = 7 ] && [ "$(<"$work/said")" = said ] && grep -qx complained "$work/complained" && [ ! -e "$probe" ]
    then
        count 1 0
        printf 'passed: the guest\n'
    else
        count 0 1
        printf 'FAILED: the guest: status %d, said: %s %s\n' "$status" "$(<"$work/said")" "$(<"$work/complained")"
    fi
}

# smoke: counts what the C program's script counted.
smoke() {
    local status=0 program
    command -v gcc >/dev/null || { printf 'skipped: the network alone: gcc is missing\n' && return; }
    program=$("$here/native/build.sh") || { count 0 1 && printf 'FAILED: multicast.c cannot be compiled\n' && return; }
    in_lab 400 "$here/guest/smoke.sh" "$program" "${DEVICES[@]}" 2>&1 | tee "$work/smoke" || status=$?
    count_last "$work/smoke" "$status" 'the network alone'
}

# of_summary WHAT: the number in the summary of JUnit's ConsoleLauncher.
of_summary() {
    local number
    number=$(sed -n "s/^\[ *\([0-9]*\) $1 *\]/\1/p" "$work/tests" | tail -n 1)
    printf '%d\n' "${number:-0}"
}

# tests MODULE: compiled and resolved here, for Maven takes long in a guest; run there.
tests() {
    local module=$1 version class_path status=0 good bad launcher jvm_args chosen
    if [ "${FRAMECAST_LAB_TESTS:-}" = left-out ]; then
        return
    fi
    if [ ! -d "$module/src/test/java" ] || ! grep -rqF '"rdma"' "$module/src/test/java"; then
        printf 'tests of %s: none is tagged rdma yet\n' "$module"
        return
    fi
    version=$(of_pom junit.version)
    launcher=$work/junit-platform-console-standalone-$version.jar
    if ! class_path=$("$here/classpath.sh" "$module") ||
        ! { [ -s "$launcher" ] || ./mvnw -q -N dependency:copy -DoutputDirectory="$work" \
            -Dartifact="org.junit.platform:junit-platform-console-standalone:$version"; } </dev/null; then
        count 0 1
        printf 'FAILED: tests of %s cannot be built\n' "$module"
        return
    fi
    # The launcher brings JUnit with it.
    class_path=$(tr : '\n' <<<"$class_path" | grep -v '/org/junit/' | paste -sd : -)
    read -ra jvm_args <<<"$(of_pom framecast.jvm.args)"
    read -ra chosen <<<"${FRAMECAST_LAB_TESTS:-}"
    in_lab 900 "$jdk/bin/java" "${jvm_args[@]}" -Xmx2g -XX:+UseSerialGC \
        -cp "$launcher:$class_path" \
        org.junit.platform.console.ConsoleLauncher execute \
        --scan-classpath "$PWD/$module/target/test-classes" --include-tag rdma \
        --details tree --disable-ansi-colors --disable-banner --reports-dir "$work/reports" \
        "${chosen[@]}" 2>&1 | tee "$work/tests" || status=$?
    good=$(of_summary 'tests successful')
    bad=$(($(of_summary 'tests failed') + $(of_summary 'containers failed')))
    # A JVM or a guest that crashed left no summary; a discovery that failed has no failed test.
    if [ "$status" != 0 ] && [ "$bad" = 0 ]; then
        bad=1
        printf 'FAILED: tests of %s: ended with status %d\n' "$module" "$status"
    elif [ "$good" = 0 ] && [ "$bad" = 0 ]; then
        bad=1
        printf 'FAILED: tests of %s: none of them ran; is a device there?\n' "$module"
    fi
    count "$good" "$bad"
    printf 'tests of %s: %d passed, %d failed, %d skipped\n' "$module" "$good" "$bad" \
        $(($(of_summary 'tests aborted') + $(of_summary 'tests skipped')))
}

# Faults are done to the guest's cables and devices: not to a host's.
streams() {
    local status=0 DEVICES=(rxe1 rxe2 rxe3 rxe4)
    if [ "$STREAMS" = left-out ] || [ -n "$device" ]; then
        printf 'streams: left out%s\n' "${device:+, for their faults need the cables of the guest}"
        return
    fi
    build_tool
    perl -e 'srand shift; print pack "L*", map { int rand 4294967296 } 1 .. 65536 for 1 .. shift' \
        "$FRAMES_SEED" "$FRAMES" >"$work/frames"
    in_lab 2700 "$here/guest/streams.sh" "$work/frames" 2>&1 | tee "$work/streams" || status=$?
    count_last "$work/streams" "$status" streams
}

# Faults drawn from a seed, done to processes and cables. Everything waits longer than natively, and little is sent: an
# emulated CPU that has no time left is late with the faults too.
chaos() {
    local DEVICES=(rxe1 rxe2 rxe3 rxe4)
    if [ -z "$CHAOS" ] || [ -n "$device" ]; then
        printf 'chaos: left out%s\n' "${device:+, for its faults need the cables of the guest}"
        return
    fi
    build_tool
    if in_lab 900 ./framecast chaos --transport verbs --subscribers 3 --co-roots 1 --seconds "$CHAOS_SECONDS" \
        --seed "$CHAOS" --alive-timeout 20000 --margin 20000 --rate 5 --frame-bytes 60000; then
        count 1 0
        printf 'passed: chaos --transport verbs, seed %s\n' "$CHAOS"
    else
        count 0 1
        printf 'FAILED: chaos --transport verbs, seed %s\n' "$CHAOS"
    fi
}

# The whole product over verbs; its own verdict and exit status count.
demo() {
    if [ "$DEMO" != required ]; then
        printf 'demo: left out\n'
        return
    fi
    build_tool
    local chosen=()
    [ -z "$device" ] || chosen=(--interface "${DEVICES[0]}")
    # What doctor says is only shown.
    if in_lab 600 sh -c './framecast doctor || [ "$?" = 1 ] || exit; exec ./framecast demo "$@"' demo \
        --transport verbs --subscribers 3 --seconds 5 --json - "${chosen[@]}"; then
        count 1 0
        printf 'passed: demo --transport verbs --subscribers 3\n'
    else
        count 0 1
        printf 'FAILED: demo --transport verbs --subscribers 3\n'
    fi
}

. .mvn/jdk.sh
find_jdk || skip "$(jdk_missing)"
export JAVA25_HOME=$jdk
if [ -n "$device" ]; then
    IFS=, read -ra DEVICES <<<"$device"
    for each in "${DEVICES[@]}"; do
        if [ -z "$each" ] || [ ! -d "/sys/class/infiniband/$each" ]; then
            printf 'FAILED: this host has no RDMA device "%s", which FRAMECAST_RDMA_DEVICE names; it has: %s\n' "$each" \
                "$(ls /sys/class/infiniband 2>/dev/null | paste -sd ' ' | grep . || echo none)"
            exit 2
        fi
        if ! grep -qs ACTIVE "/sys/class/infiniband/$each/ports/"*/state; then
            printf 'FAILED: no port of %s is active: plug its cable in, bring its interface up, or look at dmesg\n' "$each"
            exit 2
        fi
    done
    # One is both ends.
    [ ${#DEVICES[@]} -gt 1 ] || DEVICES+=("${DEVICES[0]}")
    printf 'on device %s of this host\n' "$device"
else
    status=0
    "$here/build.sh" >/dev/null || status=$?
    case $status in
        0) ;;
        77) skip 'this host cannot run the guest, for the reason above' ;;
        *) exit "$status" ;;
    esac
fi
mkdir -p "$work"
guest
smoke
for module in "${MODULES[@]}"; do
    tests "$module"
done
streams
chaos
demo
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
