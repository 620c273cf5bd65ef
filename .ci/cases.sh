# shellcheck shell=bash
# Chooses and reports the cases of a stage. Sourced by the stages. A stage prints one line for
# each case, `passed: …`, `FAILED: …` or `left out: … : reason`, and ends with "N passed, N failed".
#
#   CI_SCOPE   few: only the cases in the stage's list FEW, as .ci/run does; all: every case, the default

CI_SCOPE=${CI_SCOPE:-all}
FEW=()
passed=0
failed=0

pass() {
    passed=$((passed + 1))
    printf 'passed: %s\n' "$1"
}

fail_case() {
    failed=$((failed + 1))
    printf 'FAILED: %s\n' "$1"
}

# leave_out CASE REASON
leave_out() {
    printf 'left out: %s: %s\n' "$1" "$2"
}

is_few() {
    [ "$CI_SCOPE" = few ]
}

# is_wanted CASE: whether the case runs: it matches the pattern CASES, and is among the few where only these run.
is_wanted() {
    local few
    # shellcheck disable=SC2053 # the right side is a pattern
    [[ $1 == ${CASES:-*} ]] || return 1
    is_few || return 0
    for few in "${FEW[@]}"; do
        [ "$few" != "$1" ] || return 0
    done
    leave_out "$1" 'not among the few of .ci/run'
    return 1
}

# lacks CASE REASON: leaves out a case that would run but for what this machine lacks.
lacks() {
    ! is_wanted "$1" || leave_out "$1" "$2"
}

# For stages whose processes live for seconds: the tool's JVMs do without the second compiler, which takes a quarter of
# their CPU time.
short_processes() {
    export FRAMECAST_JAVA_OPTS=-XX:TieredStopAtLevel=1
}

# skip REASON: nothing of this stage can run here.
skip() {
    printf 'skipped: %s\n' "$1"
    end_cases
}

# count_tests CHECKOUT MACHINE STATUS [NEWER]: counts the tests of a checkout whose Maven ended with STATUS, and reports
# why some were skipped; a reason that .ci/skips does not list for MACHINE (bare, tools) is a failure. With NEWER only
# reports that are newer than that file. Sets `good` and `bad` to the numbers of this run.
count_tests() {
    local reports unexpected
    reports=$(.ci/surefire "$1" "${@:4}")
    read -r _ good bad _ <<<"$reports"
    sed -n 's/^skipped \([0-9]*\) \(.*\)/left out: \1 tests: \2/p' <<<"$reports"
    unexpected=$(sed -n 's/^skipped [0-9]* //p' <<<"$reports" | .ci/unlisted "$2")
    if [ -n "$unexpected" ]; then
        bad=$((bad + 1))
        printf 'FAILED: skipped for a reason that is not in .ci/skips: %s\n' "$unexpected"
    fi
    if [ "$bad" = 0 ] && { [ "$3" != 0 ] || [ "$good" = 0 ]; }; then
        bad=1
        printf 'FAILED: Maven ended with status %d, %d tests passed\n' "$3" "$good"
    fi
    passed=$((passed + good))
    failed=$((failed + bad))
}

# Shows the errors of a Maven log, and how long its modules took.
show_maven() {
    grep -E '^\[(ERROR|FATAL)\]' "$1" | head -n 80 || :
    grep -E '(SUCCESS|FAILURE|SKIPPED) \[' "$1" || tail -n 40 "$1"
}

# counted COMMAND…: counts the lines `passed: …` and `failed: …` that the command prints; one that fails without a word
# is a failure too.
counted() {
    local log status=0 good bad command
    log=$(mktemp)
    # In the background, for as a condition bash would go on behind a command in it that failed.
    "$@" <&0 >"$log" 2>&1 &
    command=$!
    tail -f -s 0.2 -n +1 --pid="$command" "$log" &
    wait "$command" || status=$?
    wait "$!" || :
    good=$(grep -c '^passed: ' "$log" || :)
    bad=$(grep -ciE '^failed: ' "$log" || :)
    rm -f -- "$log"
    if [ "$status" != 0 ] && [ "$bad" = 0 ]; then
        bad=1
        printf 'FAILED: status %d: %s\n' "$status" "$*"
    fi
    passed=$((passed + good))
    failed=$((failed + bad))
    return 0
}

# Ends the stage. One that ran no case and left none out is not a success by accident: the runner counts its lines.
end_cases() {
    printf '%d passed, %d failed\n' "$passed" "$failed"
    [ "$failed" = 0 ] || exit 1
    exit 0
}
