#!/usr/bin/env bash
# A host group under several policies, as processes: one subscriber gets every frame, others the newest or the young ones,
# read so slowly that they skip most, or on an emulated GPU. Each frame is given as it was sent, or reported. Only the
# first subscriber holds the source up. Then its leader is killed; and then once more with the publisher on this host,
# whose window they read.
# Limit: 600 s
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

. .ci/cases.sh
short_processes
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
./framecast --version >/dev/null
export XDG_RUNTIME_DIR=$work FRAMECAST_BUILD=skip
plays='remote leader-killed local'
if is_few; then
    plays=leader-killed
    leave_out 'remote, local' 'not among the few of .ci/run'
fi
# shellcheck disable=SC2086 # a list of words
counted python3 - "$work" $plays <<'PYTHON'
import atexit
import json
import os
import signal
import subprocess
import sys
import threading
import time

work = sys.argv[1]
FRAMES, RATE = 1200, 200
FRAME_BYTES = 640 * 480 * 3 // 2
SLOW_S = 0.05


started = []


def framecast(name, *arguments):
    started.append(subprocess.Popen(
        ["./framecast", *arguments, "--json", f"{work}/{name}.json"],
        stdout=subprocess.PIPE, stderr=open(f"{work}/{name}.log", "w"), start_new_session=True,
    ))
    return started[-1]


@atexit.register
def end():
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


def read_slowly(process, count):
    have = 0
    while block := os.read(process.stdout.fileno(), 1 << 16):
        have += len(block)
        while have >= FRAME_BYTES:
            have -= FRAME_BYTES
            count.append(time.monotonic())
            time.sleep(SLOW_S)


def play(name, port, local, kill):
    uri = f"framecast:udp?group=224.20.30.49:{port}|channel={name}|interface=127.0.0.1"
    group = "|host-group=auto"
    members = {}

    def subscribe(who, settings, *options):
        members[who] = framecast(f"{name}-{who}", "subscribe", uri + group + settings, *options)
        log = f"{work}/{name}-{who}.log"
        end = time.monotonic() + 60
        while os.path.getsize(log) == 0 and time.monotonic() < end:
            time.sleep(0.02)

    # The first one leads. A pipe to a slow reader is a slow subscriber.
    check = ("--check-test", "7")
    subscribe("leader", "|device=host|delivery=latest", *check)
    subscribe("newest", "|device=host|delivery=latest", "--out", "-")
    subscribe("young", "|device=host|delivery=deadline=100ms", "--out", "-")
    subscribe("gpu", "|device=emulated|delivery=latest", *check)
    subscribe("every", "|device=host", *check)
    slow = {"newest": [], "young": []}
    for who, count in slow.items():
        threading.Thread(target=read_slowly, args=(members[who], count), daemon=True).start()
    publisher = framecast(f"{name}-publish", "publish", uri + (group if local else ""), "--input", "test", "--video",
                          "640x480xnv12", "--frames", str(FRAMES), "--rate", str(RATE), "--wait-subscribers", "5", "--seed", "7")
    while not slow["newest"]:
        time.sleep(0.02)
    start = time.monotonic()
    time.sleep(1.5)
    if kill:
        os.killpg(members["leader"].pid, signal.SIGKILL)
        members["leader"].wait()
    publisher.wait(timeout=120)
    took = time.monotonic() - start
    if publisher.returncode != 0:
        sys.exit(f"failed: {name}: the publisher: {open(f'{work}/{name}-publish.log').read()}")
    result = json.load(open(f"{work}/{name}-publish.json"))
    published = result["publisher"]
    said = []
    for who, member in members.items():
        if kill and who == "leader":
            continue
        member.wait(timeout=60)
        if member.returncode != 0:
            sys.exit(f"failed: {name}, {who}: {open(f'{work}/{name}-{who}.log').read()}")
        subscriber = json.load(open(f"{work}/{name}-{who}.json"))["subscribers"][0]
        lost = subscriber["lost_frames"]
        if subscriber["frames"] + sum(lost.values()) != FRAMES:
            sys.exit(f"failed: {name}, {who}: {subscriber}, of {FRAMES} frames")
        if who == "every" and (sum(lost.values()) or subscriber["stream_crc32c"] != published["stream_crc32c"]):
            sys.exit(f"failed: {name}, {who}: {subscriber}, published {published}")
        # Gone before it came to them, or too old then.
        reasons = ("superseded",) if who == "newest" else ("expired", "unrepairable")
        if who in slow and sum(lost[reason] for reason in reasons) < FRAMES / 2:
            sys.exit(f"failed: {name}: {who} is too slow for {FRAMES} frames, and got {subscriber}")
        said.append(f"{who} {subscriber['frames']}")
    if local and published["sent_datagrams"] != 0:
        sys.exit(f"failed: {name}: {result}")
    # It was never held up: by more than a leader's death costs.
    if took > 1.5 * FRAMES / RATE + 2:
        sys.exit(f"failed: {name}: {FRAMES} frames at {RATE} per second took {took:.1f} s")
    print(f"passed: {name}: of {FRAMES} frames {', '.join(said)}; the others were reported", flush=True)


for number, name in enumerate(("remote", "leader-killed", "local")):
    if name in sys.argv[2:]:
        play(name, 24700 + 3 * number, local=name == "local", kill=name == "leader-killed")
PYTHON
end_cases
