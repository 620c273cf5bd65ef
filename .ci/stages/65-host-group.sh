#!/usr/bin/env bash
# Host groups as processes: three subscribers receive a stream once; then a follower is killed while it streams, and then
# a leader. Whoever lives has every frame.
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
