#!/usr/bin/env bash
# What the devices and their network can do, without Java: when this fails, Java is not to blame. Called as
# smoke.sh MULTICAST-PROGRAM DEVICE…; with one device, or without fabric.sh's cables, only what needs no more.
# Ends with "N passed, N failed".
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
multicast=$1
shift
devices=("$@")
passed=0 failed=0

# check NAME COMMAND…
check() {
    local name=$1 said status=0
    shift
    said=$("$@" 2>&1) || status=$?
    if [ "$status" = 0 ]; then
        passed=$((passed + 1))
        printf 'passed: %s: %s\n' "$name" "$(tail -n 1 <<<"$said")"
    elif [ "$status" = 77 ]; then
        printf 'skipped: %s: %s\n' "$name" "$said"
    else
        failed=$((failed + 1))
        printf 'FAILED: %s: status %d\n%s\n' "$name" "$status" "$said"
    fi
}

# sends OPTION…: from the first device to the others, or to itself where there is no other.
sends() {
    "$multicast" "$@" "${devices[0]}" "${devices[@]: -1}" ${devices[2]:+"${devices[1]}"}
}

# under FAULT -- PATTERN: what the last device gets under a fault, while the second gets everything.
under() {
    local fault=() said
    while [ "$1" != -- ]; do
        fault+=("$1")
        shift
    done
    "$here/netem.sh" "${devices[-1]}" "${fault[@]}"
    said=$(sends -l -n 3200) || return
    "$here/netem.sh" "${devices[-1]}" restore
    printf '%s\n' "$said"
    [[ $said =~ $2 && $said =~ "${devices[1]} 3200 lost 0 late "[0-9]+" doubled 0 " ]]
}

# port STATE: the kernel carries a link's state over to the port a little later.
port() {
    local try
    for ((try = 0; try < 200; try++)); do
        [[ $(<"/sys/class/infiniband/${devices[-1]}/ports/1/state") != *"$1"* ]] || return 0
        sleep 0.1
    done
    printf 'the port is not %s\n' "$1"
    return 1
}

# The program finds a port without a carrier; restored, it carries again.
cut_and_restore() {
    local status=0
    "$here/netem.sh" "${devices[-1]}" cut
    port DOWN || return
    sends || status=$?
    "$here/netem.sh" "${devices[-1]}" restore
    [ "$status" = 2 ] || return 1
    port ACTIVE && sends
}

over_mtu_is_refused() {
    ! sends -p 4057
}

# Writes, and what is behind repair by reading, need a connection; the server is there when its port is.
reliable() {
    local server status=0
    timeout 60 ibv_rc_pingpong -d "${devices[-1]}" -g 1 -n 200 >/dev/null &
    server=$!
    # Port 18515, listening.
    until grep -qE ':4853 [0-9A-F:]+ 0A ' /proc/net/tcp /proc/net/tcp6 || ! kill -0 "$server" 2>/dev/null; do sleep 0.1; done
    timeout 60 ibv_rc_pingpong -d "${devices[0]}" -g 1 -n 200 localhost || status=$?
    wait "$server" && return "$status"
}

check 'IPv4 group, 64 bytes' sends -p 64
check 'IPv4 group, 1024 bytes' sends
check 'IPv6 group, 1024 bytes' sends -g ff1e::77:1
if [ -d /sys/class/net/fabric ] && [ ${#devices[@]} -ge 3 ]; then
    check 'IPv4 group, the whole MTU' sends -p 4056
    check 'more than the MTU is refused' over_mtu_is_refused
    check 'loss on one cable' under loss 10% -- 'lost [1-9][0-9]* late [0-9]+ doubled 0'
    check 'reordering on one cable' under delay 2ms reorder 25% -- 'lost 0 late [1-9][0-9]* doubled 0'
    check 'duplication on one cable' under duplicate 10% -- 'lost 0 late [0-9]+ doubled [1-9]'
    check 'a cable pulled and put back' cut_and_restore
    check 'a reliable connection' reliable
fi
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
