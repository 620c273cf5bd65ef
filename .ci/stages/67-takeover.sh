#!/usr/bin/env bash
# Leaders of a host group are killed, stopped, and killed together with their successor while that takes over, one after
# the other, while they stream at 1 % loss: all followers have every frame once and in order. Prints how long the
# followers got no frame. The same, as root, among members in PID namespaces of their own, as containers have: each is
# its process 1. There a takeover takes at most 1.3 times as long, in the median.
# Limit: 1800 s
#
#   .ci/stages/67-takeover.sh [ROUNDS [STOPS [PAIRS [AERON [NAMESPACES]]]]]
#       two leaders are killed in each of ROUNDS, two stopped in each of STOPS, two killed with their successors in each of
#       PAIRS, two killed over aeron in each of AERON; default 1. In PID namespaces three are killed in each of NAMESPACES
#       rounds, three stopped in each of as many, and in two thirds as many two are killed whose successors are stopped;
#       half as many rounds without such namespaces are beside them. Default 6: 52 leaders that are killed or stopped
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

. .ci/cases.sh
short_processes
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
if is_few; then
    set -- 1 0 0 0 1
    leave_out 'leaders stopped, killed with their successors, killed over aeron' 'not among the few of .ci/run'
    leave_out 'leaders killed and stopped in PID namespaces, beside those without' 'not among the few of .ci/run'
fi
./framecast --version >/dev/null
export XDG_RUNTIME_DIR=$work FRAMECAST_BUILD=skip
namespaces=${5:-6}
if ! unshare --pid --fork --mount-proc --kill-child true 2>/dev/null; then
    leave_out 'leaders in PID namespaces' 'cannot make PID namespaces here'
    namespaces=0
fi
counted python3 - "$work" "${1:-1}" "${2:-${1:-1}}" "${3:-${1:-1}}" "${4:-1}" "$namespaces" <<'PYTHON'
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

work = sys.argv[1]
VICTIMS, FRAMES, RATE = 2, 1500, 150
FRAME_BYTES = 160 * 120 * 3 // 2
# A leader that stands still is noticed after this.
STOP_S = 1.0
# How long a successor is stopped.
PAUSE_S = 4.0
# Its own PID namespace, in which it is process 1, and its own /proc.
NAMESPACE = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
NAMESPACES = int(sys.argv[6])
# Times of takeovers, their median, without PID namespaces and with them.
RATIO_MAX = 1.3


def framecast(*arguments, log, prefix=(), **options):
    return subprocess.Popen(
        [*prefix, "./framecast", *arguments], stderr=open(log, "w"), start_new_session=True, **options
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
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        # It ended by itself.
        pass


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


# Kills or stops leaders, by the first signal; their successors, while they take over, by the second one, if any.
def play(name, transport, port, number, second=None, victims=VICTIMS, prefix=()):
    uri = f"framecast:{transport}?group=224.20.30.49:{port}|channel={name}|interface=127.0.0.1|device=host"
    members, times, logs = [], [], []
    frames = 2 * FRAMES if second == signal.SIGSTOP else FRAMES
    count = (2 * victims if second else victims) + 2
    for i in range(count):
        logs.append(f"{work}/{name}-{i}.log")
        members.append(
            framecast("subscribe", uri + "|host-group=auto", "--loss", "0.01", "--out", "-", "--json",
                      f"{work}/{name}-{i}.json", log=logs[i], prefix=prefix, stdout=subprocess.PIPE)
        )
        times.append([])
        threading.Thread(target=arrivals, args=(members[i], times[i]), daemon=True).start()
        wait_for(lambda: os.path.getsize(logs[i]) > 0, f"subscriber {i}")
    publisher = framecast("publish", uri, "--input", "test", "--video", "160x120xnv12", "--frames", str(frames),
                          "--rate", str(RATE), "--json", f"{work}/{name}-publish.json", log=f"{work}/{name}-publish.log")
    alive = list(range(count))
    gaps = []
    first = random.randint(100, 500)
    wait_for(lambda: all(len(t) > first for t in times), "frames")
    for _ in range(victims):
        victim = leader(alive, logs)
        alive.remove(victim)
        start = time.monotonic()
        send(members[victim], number)
        killed = victim
        if second:
            victim = leader(alive, logs)
            alive.remove(victim)
            time.sleep(random.choice([0, 0.005, 0.015, 0.05]))
            send(members[victim], second)
        if number == signal.SIGKILL:
            # Its memory is freed before its sockets end.
            members[killed].wait(timeout=10)
            if second == signal.SIGKILL:
                members[victim].wait(timeout=10)
        end = time.monotonic()
        before = [sum(t < start for t in times[i]) for i in alive]
        wait_for(lambda: all(len(times[i]) > n + 150 for i, n in zip(alive, before)), "frames behind a leader")
        for i, n in zip(alive, before):
            # The longest time without a frame from the signal on, and how much of it lies behind the process's end.
            near = [start] + [t for t in times[i][n:]]
            a, b = max(zip(near, near[1:]), key=lambda pair: pair[1] - pair[0])
            gaps.append((b - a, b - max(a, end)))
        if second == signal.SIGSTOP:
            # It goes on as a follower that misses what came meanwhile, and would lead once more.
            time.sleep(max(0, start + PAUSE_S - time.monotonic()))
            send(members[victim], signal.SIGCONT)
            time.sleep(0.3)
            send(members[victim], signal.SIGKILL)
            members[victim].wait(timeout=10)
    publisher.wait(timeout=120)
    published = json.load(open(f"{work}/{name}-publish.json"))["publisher"]["stream_crc32c"]
    for i in alive:
        members[i].wait(timeout=60)
        subscriber = json.load(open(f"{work}/{name}-{i}.json"))["subscribers"][0]
        if subscriber["frames"] != frames or subscriber["stream_crc32c"] != published:
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
stopped = 0
# A stream mostly waits: two run at a time. What they show is printed in order.
pool = ThreadPoolExecutor(2)
reports = []


def play_next(key, transport, number, **options):
    global port, stopped
    port += 3
    stopped += number == signal.SIGSTOP
    return pool.submit(play, f"{key}{port}", transport, port, number, **options)


def gaps_of(plays):
    return [gap for each in plays for gap in each.result()]


# Reports the gaps of so many leaders; the times without a frame, ms.
def report(what, gaps, count, stops):
    whole, behind = ([1e3 * gap[k] for gap in gaps] for k in (0, 1))
    extra = f", of which {STOP_S:.0f} s until that is noticed" if stops else (
        f"; from the process's end on {statistics.median(behind):.0f} and {max(behind):.0f} ms")
    print(f"passed: {count} leaders {what}: every frame once; no frame for {statistics.median(whole):.0f} ms"
          f" in the median, {max(whole):.0f} ms at most{extra}", flush=True)
    return whole


def row(what, key, transport, number, rounds, second=None):
    plays = [play_next(key, transport, number, second=second) for _ in range(rounds)]
    if plays:
        stops = signal.SIGSTOP in (number, second)
        reports.append(lambda: report(what, gaps_of(plays), rounds * VICTIMS, stops))


# Rounds in PID namespaces, and behind every second one a round without, for this machine does other things, too.
def compare(what, key, number, rounds, second=None, victims=VICTIMS):
    plays = {False: [], True: []}
    for i in range(rounds):
        plays[True].append(play_next(key + "ns", "udp", number, second=second, victims=victims, prefix=NAMESPACE))
        if i % 2:
            plays[False].append(play_next(key, "udp", number, second=second, victims=victims))
    if plays[True]:
        reports.append(lambda: report_both(what, plays, victims, signal.SIGSTOP in (number, second)))


def report_both(what, plays, victims, stops):
    inside = report(f"{what}, in PID namespaces", gaps_of(plays[True]), len(plays[True]) * victims, stops)
    if not plays[False]:
        return
    plain = report(what, gaps_of(plays[False]), len(plays[False]) * victims, stops)
    ratio = statistics.median(inside) / statistics.median(plain)
    line = f"{what}: a takeover in PID namespaces takes {ratio:.2f} times as long as without, in the median"
    print(f"passed: {line}" if ratio <= RATIO_MAX else f"failed: {line}, more than {RATIO_MAX}", flush=True)


row("killed", "killed", "udp", signal.SIGKILL, int(sys.argv[2]))
row("stopped", "stopped", "udp", signal.SIGSTOP, int(sys.argv[3]))
row("killed with their successors", "successors", "udp", signal.SIGKILL, int(sys.argv[4]), second=signal.SIGKILL)
row("killed over aeron", "aeron", "aeron", signal.SIGKILL, int(sys.argv[5]))
if NAMESPACES > 1:
    compare("killed, three in a row", "kill", signal.SIGKILL, NAMESPACES, victims=3)
    compare("stopped, three in a row", "stop", signal.SIGSTOP, NAMESPACES, victims=3)
compare("killed, their successors stopped", "pause", signal.SIGKILL, (2 * NAMESPACES + 2) // 3, second=signal.SIGSTOP)
try:
    for each in reports:
        each()
finally:
    pool.shutdown(cancel_futures=True)
left = [name for name in os.listdir(work + "/framecast") if name.endswith(".sock")]
# Of those that were killed last, and of those that went on behind the end and were killed then: the next start removes it.
if len(left) > 2 + stopped:
    sys.exit(f"failed: {left} are left")
PYTHON
end_cases
