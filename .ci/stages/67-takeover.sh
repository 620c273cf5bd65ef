#!/usr/bin/env bash
# Leaders of a host group are killed, stopped, and killed together with their successor while that takes over, one after
# the other, while they stream at 1 % loss: all followers have every frame once and in order. Prints how long those who
# follow got no frame.
# Limit: 900 s
#
#   .ci/stages/67-takeover.sh [ROUNDS [STOPS [PAIRS [AERON]]]]    two leaders are killed in each of ROUNDS, two stopped in each
#                                                         of STOPS, two killed with their successors in each of PAIRS,
#                                                         and two killed over aeron in each of AERON; default 1
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

. .ci/cases.sh
short_processes
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
if is_few; then
    set -- 1 0 0 0
    leave_out 'leaders stopped, killed with their successors, killed over aeron' 'not among the few of .ci/run'
fi
./framecast --version >/dev/null
export XDG_RUNTIME_DIR=$work FRAMECAST_BUILD=skip
counted python3 - "$work" "${1:-1}" "${2:-${1:-1}}" "${3:-${1:-1}}" "${4:-1}" <<'PYTHON'
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import threading
import time

work = sys.argv[1]
VICTIMS, FRAMES, RATE = 2, 1500, 150
FRAME_BYTES = 160 * 120 * 3 // 2
# A leader that stands still is noticed after this.
STOP_S = 1.0


def framecast(*arguments, log, **options):
    return subprocess.Popen(
        ["./framecast", *arguments], stderr=open(log, "w"), start_new_session=True, **options
    )


def arrivals(process, times):
    have = 0
    while block := os.read(process.stdout.fileno(), 1 << 16):
        have += len(block)
        while have >= FRAME_BYTES:
            have -= FRAME_BYTES
            times.append(time.monotonic())


def send(process, number):
    # The script, and the JVM that took its place or runs below it.
    os.killpg(process.pid, number)


def wait_for(condition, what):
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"failed: waited in vain: {what}")
        time.sleep(0.002)


def leads(log):
    return "leads the subscribers" in open(log).read()


def leader(alive, logs):
    wait_for(lambda: any(leads(logs[i]) for i in alive), "a leader")
    return next(i for i in alive if leads(logs[i]))


def play(name, transport, port, number, pairs):
    uri = f"framecast:{transport}?group=224.20.30.49:{port}|channel={name}|interface=127.0.0.1|device=host"
    members, times, logs = [], [], []
    count = 6 if pairs else 4
    for i in range(count):
        logs.append(f"{work}/{name}-{i}.log")
        members.append(
            framecast("subscribe", uri + "|host-group=auto", "--loss", "0.01", "--out", "-", "--json",
                      f"{work}/{name}-{i}.json", log=logs[i], stdout=subprocess.PIPE)
        )
        times.append([])
        threading.Thread(target=arrivals, args=(members[i], times[i]), daemon=True).start()
        wait_for(lambda: os.path.getsize(logs[i]) > 0, f"subscriber {i}")
    publisher = framecast("publish", uri, "--input", "test", "--video", "160x120xnv12", "--frames", str(FRAMES), "--rate",
                          str(RATE), "--json", f"{work}/{name}-publish.json", log=f"{work}/{name}-publish.log")
    alive = list(range(count))
    gaps = []
    first = random.randint(100, 500)
    wait_for(lambda: all(len(t) > first for t in times), "frames")
    for _ in range(VICTIMS):
        victim = leader(alive, logs)
        alive.remove(victim)
        start = time.monotonic()
        send(members[victim], number)
        if pairs:
            victim = leader(alive, logs)
            alive.remove(victim)
            time.sleep(random.choice([0, 0.005, 0.015, 0.05]))
            send(members[victim], number)
        if number == signal.SIGKILL:
            # Its memory is freed before its sockets end.
            members[victim].wait(timeout=10)
        end = time.monotonic()
        before = [sum(t < start for t in times[i]) for i in alive]
        wait_for(lambda: all(len(times[i]) > n + 150 for i, n in zip(alive, before)), "frames behind a leader")
        for i, n in zip(alive, before):
            # The longest time without a frame from the signal on, and how much of it lies behind the process's end.
            near = [start] + [t for t in times[i][n:]]
            a, b = max(zip(near, near[1:]), key=lambda pair: pair[1] - pair[0])
            gaps.append((b - a, b - max(a, end)))
    publisher.wait(timeout=120)
    published = json.load(open(f"{work}/{name}-publish.json"))["publisher"]["stream_crc32c"]
    for i in alive:
        members[i].wait(timeout=60)
        subscriber = json.load(open(f"{work}/{name}-{i}.json"))["subscribers"][0]
        if subscriber["frames"] != FRAMES or subscriber["stream_crc32c"] != published:
            sys.exit(f"failed: {name}, subscriber {i}: {subscriber}\n{open(logs[i]).read()}")
    for i in set(range(count)) - set(alive):
        if members[i].poll() is not None:
            continue
        # One that stood still hears that it is no member any more, or finds no leader.
        send(members[i], signal.SIGCONT)
        time.sleep(0.5)
        send(members[i], signal.SIGKILL)
        members[i].wait(timeout=10)
    return gaps


port = 24430
for name, transport, number, rounds, pairs in (
    ("killed", "udp", signal.SIGKILL, int(sys.argv[2]), False),
    ("stopped", "udp", signal.SIGSTOP, int(sys.argv[3]), False),
    ("killed with their successors", "udp", signal.SIGKILL, int(sys.argv[4]), True),
    ("killed over aeron", "aeron", signal.SIGKILL, int(sys.argv[5]), False),
):
    gaps = []
    for i in range(rounds):
        gaps += play(f"{name.split()[-1]}{i}", transport, port, number, pairs)
        port += 3
    if not gaps:
        continue
    whole, behind = ([1e3 * gap[k] for gap in gaps] for k in (0, 1))
    extra = f", of which {STOP_S:.0f} s until that is noticed" if number == signal.SIGSTOP else (
        f"; from the process's end on {statistics.median(behind):.0f} and {max(behind):.0f} ms")
    print(f"passed: {rounds * VICTIMS} leaders {name}: every frame once; no frame for {statistics.median(whole):.0f} ms"
          f" in the median, {max(whole):.0f} ms at most{extra}", flush=True)
left = [name for name in os.listdir(work + "/framecast") if name.endswith(".sock")]
# Of those that were killed last: the next start removes it.
if len(left) > 2:
    sys.exit(f"failed: {left} are left")
PYTHON
end_cases
