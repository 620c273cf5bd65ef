#!/usr/bin/env bash
# Reports of latency where the hosts' clocks differ: a subscriber whose clock is two seconds ahead, and one whose clock
# is two seconds behind, beside one that agrees. What each measures must be true to within the error that it states.
# Limit: 300 s
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

. .ci/cases.sh
# shellcheck disable=SC2034 # read by is_wanted
FEW=('a clock of +2 s')

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
end_cases
