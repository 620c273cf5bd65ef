#!/usr/bin/env bash
# Reports of latency where the hosts' clocks differ: a subscriber whose clock is two seconds ahead, and one whose clock
# is two seconds behind, beside one that agrees. What each measures must be true to within the error that it states.
# Deadlines where clocks of one host differ: readers of a publisher's window an hour ahead and an hour behind, and a server
# whose clock is set back by an hour before a client publishes. Frames expire when they are old, and no others.
# Limit: 300 s
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

. .ci/cases.sh
# shellcheck disable=SC2034 # read by is_wanted
FEW=('a clock of +2 s' 'a reader of the window, a clock of +3600 s')

command -v faketime >/dev/null || skip 'faketime is not installed'
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

port=24402
./framecast --version >/dev/null
for ahead in -2 +0 +2; do
    is_wanted "a clock of $ahead s" || continue
    uri="framecast:udp?group=224.20.30.46:$((port++))|channel=clocks|device=host|interface=127.0.0.1"
    FAKETIME_DONT_FAKE_MONOTONIC=1 timeout --kill-after=5 60 faketime -f "${ahead}s" \
        ./framecast subscribe "$uri" --wait-timeout 40 --json "$work/json" >"$work/said" 2>&1 &
    subscriber=$!
    timeout --kill-after=5 60 ./framecast publish "$uri" --input test --video 640x480xnv12 --frames 120 --rate 60 \
        >"$work/published" 2>&1 || { fail_case "publish: $(tail -n 1 "$work/published")" && continue; }
    wait "$subscriber" || { fail_case "subscribe: $(tail -n 1 "$work/said")" && continue; }
    AHEAD=$ahead counted python3 - "$work/json" <<'PYTHON'
import json
import os
import sys

latency = json.load(open(sys.argv[1]))["subscribers"][0]["latency_us"]
# The subscriber is ahead of the source, so the source is behind it. The two start seconds apart, and within these the
# system's clock may be slewed.
truth = -1e6 * int(os.environ["AHEAD"])
wrong = abs(latency["clock_offset"] - truth)
if wrong > latency["clock_error"] + 200:
    sys.exit(f"failed: offset {latency['clock_offset']} µs ± {latency['clock_error']}, it is {truth}")
if latency["p50"] < -latency["clock_error"] or latency["p50"] > 1e6:
    sys.exit(f"failed: latency {latency}")
if bool(latency.get("clocks_differ")) != (truth != 0):
    sys.exit(f"failed: the clocks differ by {truth} µs, reported {latency}")
print(f"passed: clock {-truth / 1e6:+.0f} s: offset {latency['clock_offset']} µs ± {latency['clock_error']}, p50 {latency['p50']}")
PYTHON
done
# An hour apart: a reader of the publisher's window that is stopped for two seconds has old frames then, and new ones before.
for ahead in -3600 +3600; do
    is_wanted "a reader of the window, a clock of $ahead s" || continue
    uri="framecast:udp?group=224.20.30.46:$((port++))|channel=hour|device=host|interface=127.0.0.1|host-group=auto|window=256M"
    FAKETIME_DONT_FAKE_MONOTONIC=1 timeout --kill-after=5 60 faketime -f "${ahead}s" \
        ./framecast subscribe "$uri|delivery=deadline=500ms" --wait-timeout 40 --json "$work/json" >"$work/said" 2>&1 &
    subscriber=$!
    timeout --kill-after=5 60 ./framecast publish "$uri" --input test --video 320x240xnv12 --frames 360 --rate 60 \
        >"$work/published" 2>&1 &
    publisher=$!
    for ((i = 0; i < 400; i++)); do
        ! grep -qs "reads the window" "$work/said" || break
        sleep 0.1
    done
    sleep 2
    # timeout is a process group with what it runs.
    kill -STOP -- "-$subscriber" && sleep 2 && kill -CONT -- "-$subscriber"
    wait "$publisher" || { fail_case "publish: $(tail -n 1 "$work/published")" && continue; }
    wait "$subscriber" || { fail_case "subscribe: $(tail -n 1 "$work/said")" && continue; }
    AHEAD=$ahead counted python3 - "$work/json" "$work/said" <<'PYTHON'
import json
import os
import sys

subscriber = json.load(open(sys.argv[1]))["subscribers"][0]
ahead = int(os.environ["AHEAD"])
frames, expired = subscriber["frames"], subscriber["lost_frames"]["expired"]
if frames < 60:
    sys.exit(f"failed: a clock of {ahead} s: {frames} frames came, {subscriber}")
if expired < 30:
    sys.exit(f"failed: a clock of {ahead} s: {expired} frames expired while the reader was stopped, {subscriber}")
line = f"the clock of this process is 3600.0 s {'ahead of' if ahead > 0 else 'behind'}"
if line not in open(sys.argv[2]).read():
    sys.exit(f"failed: no line says that {line}")
print(f"passed: a reader whose clock is off by {ahead} s: {frames} frames, {expired} expired while it was stopped")
PYTHON
done

# The clock of the server is set back behind its start; what the client publishes has the server's time.
server_case() {
    local uri="framecast:udp?group=224.20.30.46:$((port++))|channel=back|device=host|interface=127.0.0.1"
    local server subscriber i status=0
    export XDG_RUNTIME_DIR=$work
    make -s -C clients/c build/publish
    # libfaketime reads this file at each call.
    printf "+0\n" >"$work/clock"
    env LD_PRELOAD="$library" FAKETIME_TIMESTAMP_FILE="$work/clock" FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1 \
        timeout --kill-after=5 60 ./framecast serve --publish "$uri" >"$work/served" 2>&1 &
    server=$!
    for ((i = 0; i < 400; i++)); do
        ! grep -qs "publishes for clients" "$work/served" || break
        sleep 0.1
    done
    printf -- "-3600\n" >"$work/clock"
    timeout --kill-after=5 60 ./framecast subscribe "$uri|delivery=deadline=500ms" --wait-timeout 40 --json "$work/json" \
        >"$work/said" 2>&1 &
    subscriber=$!
    timeout --kill-after=5 60 clients/c/build/publish --frames 100 --bytes 10000 --delay-us 10000 --wait-subscribers 1 "$uri" \
        >"$work/published" 2>&1 || status=$?
    wait "$subscriber" || status=$?
    kill -TERM -- "-$server" 2>/dev/null || :
    wait "$server" || :
    unset XDG_RUNTIME_DIR
    frames=$(sed -n 's/.*"frames":\s*\([0-9]*\).*/\1/p' "$work/json" | head -n 1)
    if [ "$status" = 0 ] && [ "${frames:-0}" = 100 ]; then
        pass "a server whose clock was set back by an hour: 100 frames at a subscriber of the network"
    else
        fail_case "a server whose clock was set back by an hour: ${frames:-no} frames of 100, $(tail -n 2 "$work/said")"
    fi
}

library=$(ls /usr/lib/*/faketime/libfaketimeMT.so.1 2>/dev/null | head -n 1) || :
if ! command -v cc >/dev/null || ! command -v make >/dev/null || [ -z "$library" ]; then
    lacks 'a server whose clock is set back' 'no gcc or no libfaketimeMT on this machine'
elif is_wanted 'a server whose clock is set back'; then
    server_case
fi
end_cases
