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

# add_namespace NAME: with the loopback up.
add_namespace() {
    step ip netns add "$1" || return
    namespaces+=("$1")
    step ip -n "$1" link set lo up
}
