#!/usr/bin/env bash
# Host groups as processes: three subscribers receive a stream once; then a follower is killed while it streams, and then
# a leader. Those that live have every frame. On emulated GPUs one of three copies each frame to its device, once for all; it
# is killed too. Then the demo on two hosts, and a bench's count of the datagrams that subscribers of one host read.
# Limit: 900 s
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

. .ci/cases.sh
short_processes
# shellcheck disable=SC2034 # read by is_wanted
FEW=(shared gpu-copies leader-killed)
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
export XDG_RUNTIME_DIR=$work

port=24410
frames=600
# Prints the number of the subscriber of stream $1 that copies frames to its device for the others.
exporter() {
    local i try
    for try in {1..150}; do
        for i in 1 2 3; do
            if grep -q 'host group: copies frames to' "$work/$1-$i.log"; then
                printf '%d\n' "$i"
                return
            fi
        done
        sleep 0.1
    done
    printf 'failed: %s: no subscriber copies frames to a device for the others\n' "$1" >&2
    return 1
}

# stream NAME DEVICE VICTIM [OPTIONS]: VICTIM is the number of the subscriber to kill, 0 for none, `exporter` for the one
# that copies frames to its device for the others; the first one leads. OPTIONS are more of the subscribers' channel.
stream() {
    local uri="framecast:udp?group=224.20.30.48:$((port += 3))|channel=$1|interface=127.0.0.1|alive-timeout=1000|device=$2"
    local pids=() i victim=$3 status
    for i in 1 2 3; do
        timeout --kill-after=5 90 ./framecast subscribe "$uri|host-group=auto${4:-}" --json "$work/$1-$i.json" \
            >"$work/$1-$i.log" 2>&1 &
        pids[i]=$!
        # The first one leads, also where a JVM takes long to start.
        timeout 60 bash -c 'until grep -q "host group: " "$1"; do sleep 0.1; done' - "$work/$1-$i.log" || true
    done
    timeout --kill-after=5 90 ./framecast publish "$uri" --input test --video 640x480xnv12 --frames $frames --rate 150 \
        --json "$work/$1-publish.json" >"$work/$1-publish.log" 2>&1 &
    local publisher=$!
    sleep 2.5
    [ "$victim" != exporter ] || victim=$(exporter "$1")
    if [ "$victim" != 0 ]; then
        # The JVM below `timeout`.
        pkill -KILL -P "${pids[victim]}" || true
    fi
    wait "$publisher" || { printf 'failed: %s: the publisher: %s\n' "$1" "$(tail -n 3 "$work/$1-publish.log")"; exit 1; }
    for i in 1 2 3; do
        status=0
        wait "${pids[i]}" || status=$?
        if [ "$i" != "$victim" ] && [ "$status" != 0 ]; then
            printf 'failed: %s, subscriber %d: status %d: %s\n' "$1" "$i" "$status" "$(tail -n 3 "$work/$1-$i.log")"
            exit 1
        fi
    done
    grep -q 'host group: leads' "$work/$1-1.log" || { printf 'failed: %s: the first does not lead\n' "$1"; exit 1; }
    VICTIM=$victim FRAMES=$frames python3 - "$1" "$work" <<'PYTHON'
import json
import os
import sys

name, work = sys.argv[1:]
victim, frames = int(os.environ["VICTIM"]), int(os.environ["FRAMES"])
published = json.load(open(f"{work}/{name}-publish.json"))["publisher"]["stream_crc32c"]
missed = []
to_device = {}
for i in (1, 2, 3):
    if i == victim:
        continue
    result = json.load(open(f"{work}/{name}-{i}.json"))
    subscriber = result["subscribers"][0]
    lost = sum(subscriber["lost_frames"].values())
    if subscriber["frames"] + lost != frames or (lost == 0 and subscriber["stream_crc32c"] != published):
        sys.exit(f"failed: {name}, subscriber {i}: {subscriber['frames']} frames, {lost} lost, of {frames}: {result}")
    if lost:
        sys.exit(f"failed: {name}, subscriber {i} lost {lost} frames")
    missed.append(lost)
    for way, count in result.get("placement", {}).get("frames", {}).items():
        to_device[way] = to_device.get(way, 0) + count
copies = to_device.get("staged", 0) + to_device.get("exported", 0)
# One copy of each frame. A tenth more is for members that got no core for 0.3 s, and copied for themselves meanwhile.
if name.startswith("gpu-") and victim == 0 and copies > 1.1 * frames:
    sys.exit(f"failed: {name}: {copies} copies from host memory of {frames} frames: {to_device}")
if name == "gpu-in-place" and to_device["peer"] or name == "gpu-copies" and not to_device["peer"]:
    sys.exit(f"failed: {name}: frames came another way: {to_device}")
print(f"passed: {name}: {len(missed)} subscribers, missed {missed}, {copies} copies from host to device {to_device}")
PYTHON
}

# case_of COMMAND NAME…: a case in a shell of its own, with ports that no other has.
case_of() {
    port=$((port + 30))
    ! is_wanted "$2" || counted "$@"
}

case_of stream shared host 0
case_of stream devices emulated 0 '|placement=staged'
case_of stream gpu-copies emulated 0
case_of stream gpu-in-place emulated 0 '|placement=shared'
case_of stream gpu-exporter-killed emulated exporter
case_of stream gpu-leader-killed emulated 1
case_of stream follower-killed host 2
case_of stream leader-killed host 1

# await LOG PATTERN: a line of a log.
await() {
    timeout 60 bash -c 'until grep -qE "$2" "$1"; do sleep 0.1; done' - "$work/$1.log" "$2" && return
    printf 'failed: %s: no line: %s: %s\n' "$1" "$2" "$(tail -n 3 "$work/$1.log")"
    exit 1
}

# member LOG DIRECTORY URI: a subscriber with this XDG_RUNTIME_DIR, or with none; sets `last` to its process.
member() {
    env -u XDG_RUNTIME_DIR ${2:+"XDG_RUNTIME_DIR=$2"} timeout --kill-after=5 90 ./framecast subscribe "$3|host-group=auto" \
        --json "$work/$1.json" >"$work/$1.log" 2>&1 &
    last=$!
}

# publish_to NAME URI FRAMES
publish_to() {
    timeout --kill-after=5 90 ./framecast publish "$2" --input test --video 320x240xnv12 --frames "$3" --rate 150 \
        >"$work/$1.log" 2>&1 || { printf 'failed: %s: %s\n' "$1" "$(tail -n 3 "$work/$1.log")"; exit 1; }
}

# Three members that look for each other in three directories: each that comes later names where another one leads.
directories() {
    local uri="framecast:udp?group=224.20.30.48:$port|channel=directories|interface=127.0.0.1|device=host" members=()
    mkdir -m 700 "$work/one" "$work/two"
    member directories-1 "$work/one" "$uri" && members+=("$last")
    await directories-1 'host group: leads'
    member directories-2 '' "$uri" && members+=("$last")
    await directories-2 "another process of this host leads this group at $work/one/framecast/.*give both the same XDG_RUNTIME_DIR"
    member directories-3 "$work/two" "$uri" && members+=("$last")
    await directories-3 'another process of this host leads this group at /tmp/framecast-'
    publish_to directories-publish "$uri" 150
    for last in "${members[@]}"; do
        wait "$last" || { printf 'failed: directories: status %d\n' "$?"; exit 1; }
    done
    printf 'passed: members in three directories name each other\n'
}

# The directory is removed while they stream: the leader listens again, and who comes then follows it.
removed() {
    local uri="framecast:udp?group=224.20.30.48:$port|channel=removed|interface=127.0.0.1|device=host" members=() publisher
    mkdir -m 700 "$work/runtime"
    member removed-1 "$work/runtime" "$uri" && members+=("$last")
    await removed-1 'host group: leads'
    member removed-2 "$work/runtime" "$uri" && members+=("$last")
    await removed-2 'host group: follows'
    publish_to removed-publish "$uri" 1500 &
    publisher=$!
    sleep 2
    rm -rf -- "$work/runtime/framecast"
    await removed-1 'was removed, and is made again'
    member removed-3 "$work/runtime" "$uri" && members+=("$last")
    await removed-3 'host group: follows'
    wait "$publisher"
    for last in "${members[@]}"; do
        wait "$last" || { printf 'failed: removed: status %d: %s\n' "$?" "$(tail -n 3 "$work"/removed-*.log)"; exit 1; }
    done
    ! grep -h 'stood still' "$work"/removed-?.log || { printf 'failed: removed: no process stood still\n'; exit 1; }
    python3 - "$work" <<'PYTHON'
import json
import sys

for i in (1, 2):
    subscriber = json.load(open(f"{sys.argv[1]}/removed-{i}.json"))["subscribers"][0]
    if subscriber["frames"] != 1500:
        sys.exit(f"failed: removed, subscriber {i}: {subscriber}")
print("passed: a directory that is removed while they stream: the leader listens again")
PYTHON
}

case_of directories directories
case_of removed removed
leftover=$(find "$work" -name '*.sock' | wc -l)
[ "$leftover" = 0 ] || fail_case "$leftover sockets are left"

# run NAME ARGUMENT…: a command of the tool, whose result is left in NAME.json.
run() {
    local name=$1
    shift
    timeout --kill-after=5 300 ./framecast "$@" --json "$work/$name.json" >"$work/$name.log" 2>&1 || {
        printf 'failed: %s: %s\n' "$name" "$(tail -n 3 "$work/$name.log")"
        exit 1
    }
}

counts() {
    run demo demo --hosts 2 --subscribers 4 --seconds 2 --frame-bytes 1M --rate 30
    run node bench node --quick --net loopback --subscribers 2 --frame-bytes 100000 --rate 50
    python3 - "$work" <<'PYTHON'
import json
import sys

work = sys.argv[1]
for host in json.load(open(f"{work}/demo.json"))["hosts"]:
    if host["received_datagrams"] == 0 or host["saved_datagrams"] != host["received_datagrams"]:
        sys.exit(f"failed: demo: {host}")
read = {row["scheme"]: row["datagrams_read_per_sent"] for row in json.load(open(f"{work}/node.json"))["rows"]}
expected = {"independent": (1.7, 2.3), "host-group": (0.8, 1.2), "shmem": (0.8, 1.2), "local": (0, 0.2)}
for scheme, (least, most) in expected.items():
    if read[scheme] is not None and not least <= read[scheme] <= most:
        sys.exit(f"failed: {scheme}: {read[scheme]} datagrams read per datagram sent")
print(f"passed: demo on two hosts; datagrams read per datagram sent: {read}")
PYTHON
}

! is_wanted 'demo on two hosts, datagrams read' || counted counts
end_cases
