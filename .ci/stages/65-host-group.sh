#!/usr/bin/env bash
# Host groups as processes: three subscribers receive a stream once; then a follower is killed while it streams, and then
# a leader. Whoever lives has every frame. Then the demo on two hosts, and a bench's count of the datagrams that
# subscribers of one host read.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
export XDG_RUNTIME_DIR=$work

port=24410
frames=600
# stream NAME DEVICE VICTIM: VICTIM is the number of the subscriber to kill, 0 for none; the first one leads.
stream() {
    local uri="framecast:udp?group=224.20.30.48:$((port += 3))|channel=$1|interface=127.0.0.1|alive-timeout=1000|device=$2"
    local pids=() i victim=$3 status
    for i in 1 2 3; do
        timeout --kill-after=5 90 ./framecast subscribe "$uri|host-group=auto" --json "$work/$1-$i.json" \
            >"$work/$1-$i.log" 2>&1 &
        pids[i]=$!
        sleep 1.5
    done
    timeout --kill-after=5 90 ./framecast publish "$uri" --input test --video 640x480xnv12 --frames $frames --rate 150 \
        --json "$work/$1-publish.json" >"$work/$1-publish.log" 2>&1 &
    local publisher=$!
    sleep 2.5
    if [ "$victim" != 0 ]; then
        # The JVM below `timeout`.
        pkill -KILL -P "${pids[victim]}" || true
    fi
    wait "$publisher"
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
print(f"passed: {name}: {len(missed)} subscribers, missed {missed}")
PYTHON
}

stream shared host 0
stream devices emulated 0
stream follower-killed host 2
stream leader-killed host 1
leftover=$(find "$work" -name '*.sock' | wc -l)
[ "$leftover" = 0 ] || { printf 'failed: %d sockets are left\n' "$leftover"; exit 1; }

# run NAME ARGUMENT…: a command of the tool, whose result is left in NAME.json.
run() {
    local name=$1
    shift
    timeout --kill-after=5 300 ./framecast "$@" --json "$work/$name.json" >"$work/$name.log" 2>&1 || {
        printf 'failed: %s: %s\n' "$name" "$(tail -n 3 "$work/$name.log")"
        exit 1
    }
}

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
