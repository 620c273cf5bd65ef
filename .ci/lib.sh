# shellcheck shell=bash
# Runs stages and reports them: what .ci/run and .ci/all share. Sourced by them, at the project's root, with SCOPE set.

# Tests and stages print and compare µ and ….
export LC_ALL=C.UTF-8
export CI_SCOPE=$SCOPE

report=target/ci
rows=()
all_passed=0
all_failed=0
started=$SECONDS
# Of stages that run beside others, by name: the process, when it began, and the copy of this checkout.
declare -A beside_pid beside_begin beside_copy
# Of the stage that runs.
stage_pid=

. .mvn/jdk.sh

quoted() {
    local text=${1//\\/\\\\}
    text=${text//\"/\\\"}
    printf '"%s"' "${text//[[:cntrl:]]/ }"
}

# count_left_out LOG: sets `left` to the number of cases and tests that a log names as left out, and adds a line of stage,
# number and reason to the report's reasons for each.
count_left_out() {
    local line number
    left=0
    while IFS= read -r line; do
        number=1
        if [[ $line =~ ^left\ out:\ ([0-9]+)\ tests:\ (.*) ]]; then
            number=${BASH_REMATCH[1]}
            line=${BASH_REMATCH[2]}
        elif [[ $line =~ ^left\ out:\ .*:\ (not among the few of .ci/run)$ ]]; then
            line=${BASH_REMATCH[1]}
        fi
        left=$((left + number))
        line=${line#left out: }
        printf '%s\t%s\t%s\n' "$name" "$number" "${line#skipped: }" >>"$report/reasons"
    done < <(grep -aE '^(left out|skipped): ' "$1" || :)
}

# read_cpu: sets `cpu` to the seconds of CPU time that the ended children of this shell took, and theirs.
read_cpu() {
    local line
    times >"$report/times"
    { read -r line && read -r line; } <"$report/times"
    [[ $line =~ ^([0-9]+)m([0-9]+)[.,].*\ ([0-9]+)m([0-9]+)[.,] ]]
    cpu=$((60 * (BASH_REMATCH[1] + BASH_REMATCH[3]) + 10#${BASH_REMATCH[2]} + 10#${BASH_REMATCH[4]}))
}

# limit_of SCRIPT: seconds.
limit_of() {
    local limit
    limit=$(sed -n 's/^# Limit: \([0-9]*\) s.*/\1/p' "$1")
    printf %s "${limit:-600}"
}

# start_beside STAGE: what is to begin with that stage, by a line "# Beside: STAGE", and end at its own place: the stages
# between mostly wait. It runs in a copy of this checkout, for these build here.
start_beside() {
    local script name copy
    for script in .ci/stages/*.sh; do
        grep -qx "# Beside: $1" "$script" || continue
        name=$(basename "$script" .sh)
        copy=$(mktemp -d)
        cp -a . "$copy/checkout"
        printf '\n=== %s begins, beside those that follow\n' "$name"
        timeout --kill-after=15 "$(limit_of "$script")" env --default-signal=INT,QUIT -C "$copy/checkout" "$script" \
            </dev/null >"$report/$name.log" 2>&1 &
        beside_pid[$name]=$! beside_begin[$name]=$EPOCHSECONDS beside_copy[$name]=$copy
    done
}

# end_beside NAME: waits for it, and shows what it said.
end_beside() {
    local status=0
    wait "${beside_pid[$1]}" || status=$?
    unset "beside_pid[$1]"
    cat "$report/$1.log"
    rm -rf --one-file-system -- "${beside_copy[$1]}"
    unset "beside_copy[$1]"
    return "$status"
}

stop_stages() {
    local name
    if [ -n "$stage_pid" ]; then
        kill "$stage_pid" 2>/dev/null || :
        wait "$stage_pid" 2>/dev/null || :
    fi
    for name in "${!beside_pid[@]}"; do
        kill "${beside_pid[$name]}" 2>/dev/null || :
        wait "${beside_pid[$name]}" 2>/dev/null || :
    done
    for name in "${!beside_copy[@]}"; do
        rm -rf --one-file-system -- "${beside_copy[$name]}"
    done
}

# run_stage SCRIPT: under the limit of time in its line "# Limit: N s"; reports it and goes on where it fails.
run_stage() {
    local script=$1 name limit begin=$SECONDS status=0 log good=0 bad=0 left last seconds unlisted cpu before
    name=$(basename "$script" .sh)
    limit=$(limit_of "$script")
    log=$report/$name.log
    printf '\n=== %s (alone: .ci/%s %s)\n' "$name" "$(basename "$0")" "$name"
    read_cpu
    before=$cpu
    if [ -n "${beside_pid[$name]:-}" ]; then
        end_beside "$name" || status=$?
        seconds=$(($(stat -c %Y "$log") - ${beside_begin[$name]}))
    else
        # In the background, for a signal must end it at once; what it starts is to hear of interrupts.
        timeout --kill-after=15 "$limit" env --default-signal=INT,QUIT "$script" </dev/null >"$log" 2>&1 &
        stage_pid=$!
        tail -f -s 0.2 -n +1 --pid="$stage_pid" "$log" &
        wait "$stage_pid" || status=$?
        stage_pid=
        wait "$!" || :
        seconds=$((SECONDS - begin))
    fi
    read_cpu
    cpu=$((cpu - before))
    last=$(grep -aE '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1) || :
    if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then
        good=${BASH_REMATCH[1]} bad=${BASH_REMATCH[2]}
    fi
    count_left_out "$log"
    # On a machine with all tools nothing is left out for a reason that is not listed.
    if [ "$(id -u)" = 0 ] && unlisted=$(awk -F '\t' -v stage="$name" '$1 == stage { print $3 }' "$report/reasons" |
        .ci/unlisted "$([ "$name" = 10-verify ] && echo bare || echo tools)") && [ -n "$unlisted" ]; then
        bad=$((bad + 1))
        printf 'FAILED: left out for a reason that is not in .ci/skips: %s\n' "$unlisted"
    fi
    case $status in
        0) [ $((good + bad + left)) -gt 0 ] || { bad=1 && printf 'FAILED: %s ran no case\n' "$name"; } ;;
        124 | 137) bad=$((bad + 1)) && printf 'FAILED: %s still ran after %d s\n' "$name" "$limit" ;;
        *)
            if [ "$bad" = 0 ] || [ -z "$last" ]; then
                bad=$((bad + 1))
                printf 'FAILED: %s ended with status %d\n' "$name" "$status"
            fi
            ;;
    esac
    all_passed=$((all_passed + good))
    all_failed=$((all_failed + bad))
    rows+=("$name $good $bad $left $seconds $cpu")
    printf '=== %s: %d passed, %d failed, %d left out, %d s, %d s of CPU time\n' "$name" "$good" "$bad" "$left" "$seconds" "$cpu"
}

# print_table: a line for each stage, with the CPU time of its processes that ended with it, then why cases and tests were left out.
print_table() {
    local row cpu
    printf '\n%-24s %8s %8s %8s %8s %8s\n' stage passed failed 'left out' seconds CPU
    for row in "${rows[@]}"; do
        # shellcheck disable=SC2086 # six words
        printf '%-24s %8d %8d %8d %8d %8d\n' $row
    done
    read_cpu
    printf '%-24s %8d %8d %8s %8d %8d\n' all "$all_passed" "$all_failed" '' $((SECONDS - started)) "$cpu"
    printf '\nleft out:\n'
    awk -F '\t' '{ count[$1 "\t" $3] += $2 } END { for (key in count) print key "\t" count[key] }' "$report/reasons" | sort |
        awk -F '\t' '{ printf "%-24s %6d  %s\n", $1, $3, $2 }'
}

write_json() {
    local row name good bad left seconds cpu separator='' stage number reason
    {
        printf '{"command": "%s", "commit": "%s", "cpus": %d, "seconds": %d, "passed": %d, "failed": %d, "stages": [' \
            ".ci/$(basename "$0")" "$(git rev-parse HEAD 2>/dev/null || echo unknown)" "$(nproc)" \
            $((SECONDS - started)) "$all_passed" "$all_failed"
        for row in "${rows[@]}"; do
            read -r name good bad left seconds cpu <<<"$row"
            printf '%s\n  {"stage": "%s", "passed": %d, "failed": %d, "left_out": %d, "seconds": %d, "cpu_seconds": %d, ' \
                "$separator" "$name" "$good" "$bad" "$left" "$seconds" "$cpu"
            printf '"reasons": ['
            separator=
            while IFS=$'\t' read -r stage number reason; do
                [ "$stage" = "$name" ] || continue
                printf '%s{"count": %d, "reason": %s}' "$separator" "$number" "$(quoted "$reason")"
                separator=', '
            done <"$report/reasons"
            printf ']}'
            separator=,
        done
        printf '\n]}\n'
    } >"$report/report.json"
}

# run_stages [NAME…]: all of .ci/stages in order of name, or those that are named.
run_stages() {
    local script name
    rm -rf -- "$report"
    mkdir -p "$report"
    : >"$report/reasons"
    find_jdk || { jdk_missing && exit 2; }
    export JAVA25_HOME=$jdk JAVA_HOME=$jdk
    printf 'JDK: %s · %s CPUs\n' "$jdk" "$(nproc)"
    for name; do
        [ -x ".ci/stages/$name.sh" ] || { printf 'no stage %s; there are: %s\n' "$name" \
            "$(cd .ci/stages && printf '%s ' *.sh | sed 's/\.sh//g')" && exit 2; }
    done
    trap stop_stages EXIT
    trap 'exit 143' TERM HUP
    trap 'exit 130' INT
    for script in .ci/stages/*.sh; do
        name=$(basename "$script" .sh)
        [ $# != 0 ] || [ "$SCOPE" != all ] || start_beside "$name"
        if [ $# = 0 ] || [[ " $* " == *" $name "* ]]; then
            run_stage "$script"
        fi
    done
    print_table
    write_json
    printf '\nreport: %s, logs beside it\n' "$report/report.json"
    printf '%d passed, %d failed\n' "$all_passed" "$all_failed"
    [ "$all_failed" = 0 ]
}
