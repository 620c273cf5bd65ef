# shellcheck shell=bash
# Network namespaces and processes of a stage, gone when it ends, and its cases. Sourced by stages that set STEP_SECONDS.

. .ci/cases.sh

id=fc$$
work=
namespaces=()
processes=()

step() {
    timeout --kill-after=5 "$STEP_SECONDS" "$@"
}

# Every process here runs under timeout, which passes the signal on to its child.
stop_processes() {
    local pid
    for pid in ${processes[@]+"${processes[@]}"}; do
        kill -TERM "$pid" 2>/dev/null || :
    done
    for pid in ${processes[@]+"${processes[@]}"}; do
        wait "$pid" 2>/dev/null || :
    done
    processes=()
}

delete_namespaces() {
    local name
    for name in ${namespaces[@]+"${namespaces[@]}"}; do
        step ip netns delete "$name" 2>/dev/null || :
    done
    namespaces=()
}

clean() {
    stop_processes
    delete_namespaces
    [ -z "$work" ] || rm -rf -- "$work"
}
trap clean EXIT
trap 'exit 143' TERM HUP
trap 'exit 130' INT

# What is wrong in the present case.
why=

# fail TEXT: one more.
fail() {
    why="${why:+$why; }$1"
}

# said FILE: what a process had to say at last, on one line.
said() {
    tail -n 2 "$1" | tr '\n' ' '
}

# ended PID EXPECTED NAME: waits, and says so when a process ended otherwise.
ended() {
    local status=0
    wait "$1" || status=$?
    [ "$status" = "$2" ] || fail "$3 ended with $status, not $2: $(said "$work/$3.log")"
}

# add_namespace NAME: with the loopback up.
add_namespace() {
    step ip netns add "$1" || return
    namespaces+=("$1")
    step ip -n "$1" link set lo up
}
