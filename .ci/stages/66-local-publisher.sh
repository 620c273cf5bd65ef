#!/usr/bin/env bash
# Subscribers of a host read the window of its publisher, as processes. The publisher sends nothing while no other host
# listens. The stage kills a reader that holds the window, then the publisher, which comes back. As root, a member in
# another network namespace gets the same frames. Each process that lives has every frame.
# Limit: 600 s
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

STEP_SECONDS=20
. .ci/netns.sh
short_processes

work=$(mktemp -d)
export XDG_RUNTIME_DIR=$work

port=24500
frames=600
uri=

fail() {
    printf 'failed: %s\n' "$1"
    tail -n 5 "$work/$2"*.log
    exit 1
}

# channel NAME DEVICE INTERFACE
channel() {
    uri="framecast:udp?group=224.20.30.50:$((port += 3))|channel=$1|interface=$3|alive-timeout=1000|device=$2"
}

# subscribe LOG OPTIONS [PREFIX…]: sets `last` to its process.
subscribe() {
    local log=$1 options=$2
    shift 2
    "$@" timeout --kill-after=5 90 ./framecast subscribe "$uri$options" --json "$work/$log.json" >"$work/$log.log" 2>&1 &
    last=$!
    processes+=("$last")
}

# publish LOG OPTIONS RATE [PREFIX…]: sets `last` to its process.
publish() {
    local log=$1 options=$2 rate=$3
    shift 3
    "$@" timeout --kill-after=5 90 ./framecast publish "$uri$options" --input test --video 640x480xnv12 \
        --frames $frames --rate "$rate" --wait-subscribers "$subscribers" --json "$work/$log.json" >"$work/$log.log" 2>&1 &
    last=$!
    processes+=("$last")
}

# The JVM below `timeout`.
jvm() {
    pgrep -P "$1" | head -n 1
}

# await LOG PATTERN
await() {
    local i
    for ((i = 0; i < 300; i++)); do
        grep -qs -- "$2" "$work/$1.log" && return
        sleep 0.1
    done
    fail "no '$2'" "$1"
}

# finish LOG PROCESS
finish() {
    local status=0
    wait "$2" || status=$?
    [ "$status" = 0 ] || fail "$1: status $status" "$1"
}

# check NAME SENT SUBSCRIBER…: each has all frames of the publisher, which sent datagrams or (SENT=none) none.
check() {
    FRAMES=$frames python3 - "$work" "$@" <<'PYTHON'
import json
import os
import sys

work, name, sent, *subscribers = sys.argv[1:]
frames = int(os.environ["FRAMES"])
publisher = json.load(open(f"{work}/{name}-publish.json"))["publisher"]
if (publisher["sent_datagrams"] == 0) != (sent == "none"):
    sys.exit(f"failed: {name}: {publisher['sent_datagrams']} datagrams were sent, expected {sent}")
for one in subscribers:
    subscriber = json.load(open(f"{work}/{one}.json"))["subscribers"][0]
    if subscriber["frames"] != frames or subscriber["stream_crc32c"] != publisher["stream_crc32c"]:
        sys.exit(f"failed: {name}: {one} has {subscriber['frames']} frames, {subscriber}; published {publisher}")
print(f"passed: {name}: {len(subscribers)} subscribers, {publisher['sent_datagrams']} datagrams sent")
PYTHON
}

# Three readers that were a host group before, and one that comes when the window is there.
shared() {
    local name=$1 i pids=() subscribers=4
    channel "$name" "$2" 127.0.0.1
    for i in 1 2 3; do
        subscribe "$name-$i" '|host-group=auto'
        pids[i]=$last
    done
    await "$name-1" 'host group'
    publish "$name-publish" '|host-group=auto' 150
    local publisher=$last
    for i in 1 2 3; do await "$name-$i" 'reads the window'; done
    subscribe "$name-4" '|host-group=auto'
    pids[4]=$last
    finish "$name-publish" "$publisher"
    for i in 1 2 3 4; do finish "$name-$i" "${pids[i]}"; done
    check "$name" none "$name-1" "$name-2" "$name-3" "$name-4"
}

# One reader stops, so that the window fills; it is killed, and the others read on.
killed_reader() {
    local name=killed-reader subscribers=3 pids=() i before
    channel $name host 127.0.0.1
    for i in 1 2 3; do
        subscribe "$name-$i" '|host-group=auto'
        pids[i]=$last
    done
    publish $name-publish '|host-group=auto' 150
    local publisher=$last
    for i in 1 2 3; do await "$name-$i" 'reads the window'; done
    sleep 2
    kill -STOP "$(jvm "${pids[2]}")"
    await $name-publish 'holds the window'
    kill -KILL "$(jvm "${pids[2]}")"
    finish $name-publish "$publisher"
    for i in 1 3; do finish "$name-$i" "${pids[i]}"; done
    check $name none $name-1 $name-3
}

# The publisher is killed; its readers wait for it, and read the window of the next one.
restarted() {
    local name=restarted subscribers=2 pids=() i
    channel $name host 127.0.0.1
    for i in 1 2; do
        subscribe "$name-$i" '|host-group=auto|rejoin=20s'
        pids[i]=$last
    done
    publish $name-killed '|host-group=auto' 150
    local publisher=$last
    for i in 1 2; do await "$name-$i" 'reads the window'; done
    sleep 1.5
    kill -KILL "$(jvm "$publisher")"
    wait "$publisher" || :
    for i in 1 2; do await "$name-$i" 'publisher on this host is gone.*waiting'; done
    publish $name-publish '|host-group=auto' 150
    finish $name-publish "$last"
    for i in 1 2; do finish "$name-$i" "${pids[i]}"; done
    FRAMES=$frames python3 - "$work" <<'PYTHON'
import json
import os
import sys

work, frames = sys.argv[1], int(os.environ["FRAMES"])
if json.load(open(f"{work}/restarted-publish.json"))["publisher"]["sent_datagrams"]:
    sys.exit("failed: restarted: datagrams were sent")
for i in (1, 2):
    result = json.load(open(f"{work}/restarted-{i}.json"))
    subscriber = result["subscribers"][0]
    if subscriber["frames"] <= frames or subscriber["rejoins"] != 1:
        sys.exit(f"failed: restarted: {subscriber['frames']} frames, {subscriber['rejoins']} rejoins: {result}")
print("passed: restarted: 2 subscribers read both publishers' windows")
PYTHON
}

# Readers beside the publisher in one namespace, a member in another.
mixed() {
    local name=mixed subscribers=3 pids=() i
    [ "$(id -u)" = 0 ] && command -v ip >/dev/null || { lacks mixed 'namespaces need root and ip'; return; }
    # In a shell of its own, whose namespaces the stage does not know.
    trap 'stop_processes; delete_namespaces' EXIT
    add_namespace "$id-here"
    add_namespace "$id-there"
    step ip link add eth0 netns "$id-here" type veth peer name eth0 netns "$id-there"
    for i in here:1 there:2; do
        step ip -n "$id-${i%:*}" address add "10.78.0.${i#*:}/24" dev eth0
        step ip -n "$id-${i%:*}" link set eth0 up
        step ip -n "$id-${i%:*}" route add 224.0.0.0/4 dev eth0
    done
    channel $name host eth0
    for i in 1 2; do
        subscribe "$name-$i" '|host-group=auto' ip netns exec "$id-here"
        pids[i]=$last
    done
    subscribe $name-3 '|host-group=auto' ip netns exec "$id-there"
    pids[3]=$last
    publish $name-publish '|host-group=auto' 150 ip netns exec "$id-here"
    finish $name-publish "$last"
    for i in 1 2 3; do finish "$name-$i" "${pids[i]}"; done
    for i in 1 2; do await "$name-$i" 'reads the window'; done
    ! grep -q 'reads the window' "$work/$name-3.log" || fail 'a member elsewhere reads the window' $name-3
    check $name some $name-1 $name-2 $name-3
}

# shellcheck disable=SC2034 # read by is_wanted
FEW=(shared 'killed reader')
! is_wanted shared || counted shared shared host
! is_wanted devices || counted shared devices emulated
! is_wanted 'killed reader' || counted killed_reader
! is_wanted restarted || counted restarted
! is_wanted mixed || counted mixed
leftover=$(find "$work" -name '*.sock' | wc -l)
[ "$leftover" = 0 ] || fail_case "$leftover sockets are left"
end_cases
