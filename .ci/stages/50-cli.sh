#!/usr/bin/env bash
# The tool as its users meet it, in processes of its own: loss, frames of 128 MB, ffmpeg and stdin as inputs, killed
# peers, and bad input, which must give one clear line on stderr, exit status 2 and one JSON object. Ends with
# "N passed, N failed".
# Limit: 1200 s
#
#   CASES   pattern that a case's name must match to run, default *
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

# Long where all are to live, for a machine may stand still for seconds; short where one is killed.
ALIVE_MS=20000
ALIVE_KILLED_MS=4000

. .ci/cases.sh
short_processes
# shellcheck disable=SC2034 # read by is_wanted
FEW=('frames of 128 MB, udp' 'stdin to a file, aeron' 'subscriber killed, udp' 'publisher killed, udp' 'ffmpeg to the motion worker'
    'subscriber stopped, and joined again' 'file interrupted' 'help' 'unknown key' 'command mistyped' 'missing file' 'no source'
    'metrics port in use' 'a full /dev/shm in mid-stream' '--out into a FIFO without a reader' 'ring of 1k')

command -v python3 >/dev/null || skip 'python3, which reads the JSON, is missing'

work=$(mktemp -d)
processes=()

clean() {
    local pid
    for pid in ${processes[@]+"${processes[@]}"}; do
        kill -KILL "$pid" 2>/dev/null || :
    done
    rm -rf -- "$work"
}
trap clean EXIT
trap 'exit 143' TERM HUP
trap 'exit 130' INT

port=25100

# fresh_uri TRANSPORT [ALIVE-MS]: a group of each case's own, so that none hears the one before.
fresh_uri() {
    port=$((port + 4))
    uri="framecast:$1?group=224.20.30.43:$port|channel=cli|interface=127.0.0.1|alive-timeout=${2:-$ALIVE_MS}"
}

# json EXPRESSION FILE…: whether a Python expression over the objects a, b … is true.
json() {
    python3 -c '
import json, sys
names = dict(zip("abcd", (json.load(open(path)) for path in sys.argv[2:])))
sys.exit(0 if eval("(" + sys.argv[1] + ")", names) else 1)' "$@" 2>/dev/null
}

# check NAME COMMAND…: runs one case; what it prints is shown where it fails.
check() {
    local name=$1 begin=$SECONDS
    shift
    is_wanted "$name" || return 0
    rm -rf -- "${work:?}"/*
    if "$@" >"$work/said" 2>&1; then
        passed=$((passed + 1))
        printf 'passed: %s (%d s)\n' "$name" $((SECONDS - begin))
    else
        failed=$((failed + 1))
        printf 'FAILED: %s (%d s)\n' "$name" $((SECONDS - begin))
        tail -n 20 "$work/said" | sed 's/^/    /'
    fi
}

# demo_verifies EXPRESSION OPTION…: a demo ends well, and an expression over its result a is true.
demo_verifies() {
    local expression=$1
    shift
    timeout --kill-after=5 150 ./framecast demo --json - "$@" >"$work/a.json"
    cat "$work/a.json"
    json "a['verified'] and a['publisher']['frames'] >= 1 and ($expression)" "$work/a.json"
}

# start_subscriber OPTION…: in the background; `agree` waits for it.
start_subscriber() {
    timeout --kill-after=5 90 ./framecast subscribe "$uri" --json "$work/b.json" "$@" 2>"$work/subscribe.log" &
    subscriber=$!
    processes=("$subscriber")
}

# Publisher (a) and subscriber (b) ended well with the same stream.
agree() {
    wait "$subscriber" || { cat "$work/subscribe.log"; return 1; }
    cat "$work/a.json" "$work/b.json"
    agree_on_stream
}

agree_on_stream() {
    json 'a["publisher"]["frames"] == b["subscribers"][0]["frames"] > 0
        and a["publisher"]["stream_crc32c"] == b["subscribers"][0]["stream_crc32c"]' "$work/a.json" "$work/b.json"
}

ffmpeg_to_worker() {
    fresh_uri auto
    start_subscriber --worker motion
    timeout --kill-after=5 90 ./framecast publish "$uri" \
        --input 'ffmpeg:-f lavfi -i testsrc2=size=640x480:rate=30 -t 2' --video 640x480xrgb24 \
        --wait-subscribers 1 --json "$work/a.json" || return
    agree && json 'a["publisher"]["frames"] == 60 and "worker" in b' "$work/a.json" "$work/b.json"
}

stdin_to_file() {
    fresh_uri "$1"
    head -c 10000001 /dev/urandom >"$work/in"
    start_subscriber --device host --out "$work/out"
    timeout --kill-after=5 90 ./framecast publish "$uri" --input - --frame-bytes 1M --wait-subscribers 1 \
        --json "$work/a.json" <"$work/in" || return
    agree && cmp "$work/in" "$work/out"
}

# refused PART ARGUMENT…: exit status 2, JSON with PART in it on stdout, one line of complaint on stderr.
refused() {
    local part=$1 status=0
    shift
    timeout --kill-after=5 60 ./framecast "$@" --json - >"$work/out.json" 2>"$work/err" || status=$?
    printf 'status %d\n' "$status"
    cat "$work/out.json" "$work/err"
    [ "$status" = 2 ] || return
    [ "$(grep -c '^framecast: ' "$work/err")" = 1 ] || return
    grep -q '^	at \|Exception in' "$work/err" && return 1
    grep -qF -- "$part" "$work/err" || return
    json "a['exit'] == 2 and a['error']" "$work/out.json" && [ "$(wc -l <"$work/out.json")" = 1 ]
}

metrics_port_in_use() {
    local taken status=0
    fresh_uri auto
    python3 -c '
import socket, time
s = socket.socket(); s.bind(("", 0)); s.listen()
print(s.getsockname()[1], flush=True); time.sleep(60)' >"$work/port" &
    processes=($!)
    until [ -s "$work/port" ]; do read -rt 0.1 <> <(:) || :; done
    taken=$(cat "$work/port")
    refused "$taken" publish "$uri" --input test --metrics-port "$taken" --wait-timeout 1 || status=1
    kill "${processes[@]}"
    return "$status"
}

# What a join refuses is known only when there is a source.
ring_too_small() {
    local status=0
    fresh_uri auto
    timeout --kill-after=5 60 ./framecast publish "$uri" --input test --frames 5 --wait-timeout 20 \
        >/dev/null 2>"$work/publish.log" &
    processes=($!)
    refused 'ring: expected at least' subscribe "$uri|ring=1000000" || status=1
    kill "${processes[@]}" 2>/dev/null || :
    wait "${processes[@]}" || :
    return "$status"
}

# jvm_below PID: the process that a timeout runs; the launcher has become the JVM by then.
jvm_below() {
    pgrep -P "$1" || :
}

# await_content FILE: until something was written to it, half a minute at most.
await_content() {
    local i
    for ((i = 0; i < 300; i++)); do
        [ -s "$1" ] && return
        read -rt 0.1 <> <(:) || :
    done
    return 1
}

# One of two subscribers is killed: the publisher gives it up after alive-timeout, the other gets everything; status 3
# means that one was lost.
subscriber_killed() {
    local survivor victim publisher status=0
    fresh_uri "$1" "$ALIVE_KILLED_MS"
    timeout --kill-after=5 90 ./framecast subscribe "$uri" --device host --json "$work/b.json" 2>"$work/b.log" &
    survivor=$!
    timeout --kill-after=5 90 ./framecast subscribe "$uri" --device host --out "$work/victim" 2>"$work/v.log" &
    victim=$!
    timeout --kill-after=5 90 ./framecast publish "$uri" --input test --frame-bytes 100000 --rate 50 --seconds 15 \
        --wait-subscribers 2 --json "$work/a.json" 2>"$work/a.log" &
    publisher=$!
    processes=("$survivor" "$victim" "$publisher")
    await_content "$work/victim" || return
    kill -KILL "$(jvm_below "$victim")"
    wait "$victim" || :
    wait "$publisher" || status=$?
    printf 'publisher status %d\n' "$status"
    cat "$work/a.log" "$work/a.json"
    [ "$status" = 3 ] || return
    status=0
    wait "$survivor" || status=$?
    printf 'survivor status %d\n' "$status"
    cat "$work/b.log" "$work/b.json"
    [ "$status" = 0 ] && json "b['exit'] == 3 and a['subscribers'][0]['frames'] >= 100" "$work/b.json" "$work/a.json"
}

# The only subscriber of a live input is killed: the publisher waits for another, which gets what follows.
only_subscriber_killed() {
    local victim publisher status=0
    fresh_uri udp "$ALIVE_KILLED_MS"
    timeout --kill-after=5 90 ./framecast subscribe "$uri" --device host --out "$work/victim" 2>"$work/v.log" &
    victim=$!
    timeout --kill-after=5 90 ./framecast publish "$uri" --input test --frame-bytes 100000 --rate 50 --frames 1000000 \
        --seconds 25 --wait-timeout 20 2>"$work/file.log" >/dev/null &
    publisher=$!
    processes=("$victim" "$publisher")
    await_content "$work/victim" || return
    kill -KILL "$(jvm_below "$victim")"
    wait "$victim" || :
    wait "$publisher" || status=$?
    cat "$work/file.log"
    # A later subscriber could not get all of a million frames.
    [ "$status" = 3 ] && grep -q '1 subscriber(s) were evicted' "$work/file.log" || return
    fresh_uri udp "$ALIVE_KILLED_MS"
    rm -f "$work/victim"
    timeout --kill-after=5 90 ./framecast subscribe "$uri" --device host --out "$work/victim" 2>"$work/v.log" &
    victim=$!
    timeout --kill-after=5 90 ./framecast publish "$uri" --input test --frame-bytes 100000 --rate 50 \
        --wait-timeout 20 --json "$work/a.json" 2>"$work/a.log" &
    publisher=$!
    processes=("$victim" "$publisher")
    await_content "$work/victim" || return
    kill -KILL "$(jvm_below "$victim")"
    wait "$victim" || :
    for ((i = 0; i < 300; i++)); do
        ! grep -q 'waiting 20.0 s for another' "$work/a.log" || break
        sleep 0.1
    done
    start_subscriber --device host --frames 50
    processes+=("$publisher")
    wait "$subscriber" || { cat "$work/subscribe.log" "$work/a.log"; return 1; }
    kill -TERM "$(jvm_below "$publisher")"
    wait "$publisher" || status=$?
    cat "$work/a.log" "$work/b.json"
    grep -q '1 subscriber(s) were evicted.*waiting 20.0 s for another' "$work/a.log" &&
        json "a['subscribers'][0]['frames'] == 50" "$work/b.json"
}

# stopped REJOIN…: a subscriber is stopped for longer than alive-timeout; it says that it stood still and was evicted, and
# with --rejoin every frame of the stream is received or reported lost.
stopped() {
    local victim steady publisher status=0 expected=3
    fresh_uri udp "$ALIVE_KILLED_MS"
    [ $# = 0 ] || expected=0
    timeout --kill-after=5 90 ./framecast subscribe "$uri" --device host --json "$work/b.json" --out "$work/victim" \
        "$@" 2>"$work/b.log" &
    victim=$!
    timeout --kill-after=5 90 ./framecast subscribe "$uri" --device host 2>"$work/steady.log" >/dev/null &
    steady=$!
    timeout --kill-after=5 90 ./framecast publish "$uri" --input test --frame-bytes 100000 --rate 50 --seconds 24 \
        --wait-subscribers 2 --rejoin 20s --json "$work/a.json" 2>"$work/a.log" &
    publisher=$!
    processes=("$victim" "$steady" "$publisher")
    await_content "$work/victim" || return
    kill -STOP "$(jvm_below "$victim")"
    sleep 9
    kill -CONT "$(jvm_below "$victim")"
    wait "$victim" || status=$?
    wait "$publisher" || :
    cat "$work/b.log" "$work/a.json" "$work/b.json"
    [ "$status" = "$expected" ] && grep -q 'evicted this subscriber after alive-timeout (4000 ms)' "$work/b.log" &&
        grep -q 'this process stood still for [0-9]* ms' "$work/b.log" && ! grep -q 'is it running' "$work/b.log" ||
        return
    [ "$expected" = 3 ] || json "b['subscribers'][0]['frames'] + b['subscribers'][0]['dropped_frames']
        == a['publisher']['frames'] and b['subscribers'][0]['lost_frames']['not_a_member'] > 50" \
        "$work/a.json" "$work/b.json"
}

# The source is killed: its subscriber says so, with status 3, after alive-timeout and not much later.
publisher_killed() {
    local publisher status=0 begin
    fresh_uri "$1" "$ALIVE_KILLED_MS"
    start_subscriber --device host --out "$work/out"
    timeout --kill-after=5 90 ./framecast publish "$uri" --input test --frame-bytes 100000 --rate 50 \
        --wait-subscribers 1 2>"$work/a.log" &
    publisher=$!
    processes+=("$publisher")
    await_content "$work/out" || return
    kill -KILL "$(jvm_below "$publisher")"
    begin=$SECONDS
    wait "$publisher" || :
    wait "$subscriber" || status=$?
    printf 'status %d after %d s\n' "$status" $((SECONDS - begin))
    cat "$work/subscribe.log" "$work/b.json"
    [ "$status" = 3 ] && [ $((SECONDS - begin)) -le 40 ] && json "a['exit'] == 3" "$work/b.json"
}

# A publisher of a file of 200 MB at 20 MB/s in the background, once its subscriber has written something.
start_file() {
    fresh_uri auto
    head -c 200000000 /dev/zero >"$work/in"
    start_subscriber --device host --out "$work/out"
    timeout --kill-after=5 90 ./framecast publish "$uri" --input "$work/in" --frame-bytes 1000000 --rate 20 \
        --json "$work/a.json" 2>"$work/a.log" &
    publisher=$!
    processes+=("$publisher")
    await_content "$work/out"
}

# Ends the process below a timeout by a signal, and gives the statuses of both ends.
stop_and_wait() {
    publisher_status=0
    subscriber_status=0
    kill "-$1" "$(jvm_below "$2")"
    wait "$publisher" || publisher_status=$?
    wait "$subscriber" || subscriber_status=$?
    printf 'publisher %d, subscriber %d\n' "$publisher_status" "$subscriber_status"
    cat "$work/a.log" "$work/subscribe.log" "$work/a.json" "$work/b.json"
}

# A part of a file is not the file: neither end says that all is well.
file_interrupted() {
    local publisher publisher_status subscriber_status
    start_file || return
    stop_and_wait TERM "$publisher"
    [ "$publisher_status" = 130 ] && [ "$subscriber_status" = 3 ] \
        && json "a['interrupted'] and b['exit'] == 3" "$work/a.json" "$work/b.json"
}

file_cut() {
    local publisher publisher_status=0 status=0
    start_file || return
    truncate -s 1000000 "$work/in"
    wait "$publisher" || publisher_status=$?
    wait "$subscriber" || status=$?
    cat "$work/a.log" "$work/subscribe.log"
    [ "$publisher_status" = 2 ] && [ "$status" = 3 ] && json "'it was cut to' in a['error']" "$work/a.json"
}

# All that a publisher's only subscriber wanted was a part: the publisher of a file ends at once as well.
subscriber_interrupted() {
    local publisher publisher_status subscriber_status
    start_file || return
    stop_and_wait INT "$subscriber"
    [ "$publisher_status" = 3 ] && [ "$subscriber_status" = 130 ] \
        && json "'all left before the end' in a['error'] and b['interrupted']" "$work/a.json" "$work/b.json"
}

live_input_stopped() {
    local publisher publisher_status subscriber_status
    fresh_uri auto
    start_subscriber --device host --out "$work/out"
    timeout --kill-after=5 90 ./framecast publish "$uri" --input test --frame-bytes 100000 --json "$work/a.json" \
        2>"$work/a.log" &
    publisher=$!
    processes+=("$publisher")
    await_content "$work/out" || return
    stop_and_wait TERM "$publisher"
    [ "$publisher_status" = 0 ] && [ "$subscriber_status" = 0 ] && agree_on_stream
}

ffmpeg_fails() {
    local status=0 publisher_status=0
    fresh_uri auto
    start_subscriber --device host
    timeout --kill-after=5 90 ./framecast publish "$uri" --input 'ffmpeg:-i /nonexistent.mp4' --json "$work/a.json" \
        2>"$work/a.log" || publisher_status=$?
    wait "$subscriber" || status=$?
    printf 'publisher %d, subscriber %d\n' "$publisher_status" "$status"
    cat "$work/a.log" "$work/subscribe.log"
    [ "$publisher_status" = 2 ] && [ "$status" = 3 ]
}

# `timeout` would give it another stdin only in the background: here it is as the caller has it, closed.
stdin_closed() {
    fresh_uri auto
    refused 'stdin is closed' publish "$uri" --input - --wait-timeout 2 <&- && refused 'stdin is closed' demo --input - <&-
}

# Neither the wait for subscribers nor a signal waits for a FIFO's writer.
fifo_without_writer() {
    local publisher publisher_status=0 begin
    fresh_uri auto
    mkfifo "$work/fifo"
    refused 'no subscribers' publish "$uri" --input "$work/fifo" --wait-timeout 0.5 || return
    start_subscriber --device host
    timeout --kill-after=5 90 ./framecast publish "$uri" --input "$work/fifo" --json "$work/a.json" 2>"$work/a.log" &
    publisher=$!
    processes+=("$publisher")
    await_content "$work/a.log" || return
    begin=$SECONDS
    kill -TERM "$(jvm_below "$publisher")"
    wait "$publisher" || publisher_status=$?
    kill "$subscriber" 2>/dev/null || :
    wait "$subscriber" || :
    printf 'publisher %d after %d s\n' "$publisher_status" $((SECONDS - begin))
    cat "$work/a.log" "$work/a.json"
    [ $((SECONDS - begin)) -le 40 ] && [ -s "$work/a.json" ]
}

# A FIFO without a reader is reported, and waited for no longer than --wait-timeout.
output_without_reader() {
    fresh_uri auto
    mkfifo "$work/fifo"
    refused 'no process reads' subscribe "$uri" --device host --out "$work/fifo" --wait-timeout 0.5 &&
        grep -q "^--out: no process reads $work/fifo: waiting for one" "$work/err"
}

# A disk that takes writes and fails at the flush: status 2, and 0 with --no-sync.
flush_fails() {
    local status=0
    printf '#include <errno.h>\nint fsync(int f) { errno = EIO; return -(f >= 0); }\nint fdatasync(int f) { return fsync(f); }\n' \
        >"$work/disk.c"
    cc -shared -fPIC "$work/disk.c" -o "$work/disk.so" || return
    fresh_uri auto
    LD_PRELOAD=$work/disk.so start_subscriber --device host --out "$work/out"
    timeout --kill-after=5 90 ./framecast publish "$uri" --input test --frame-bytes 1000 --frames 5 --json "$work/a.json" || return
    wait "$subscriber" || status=$?
    printf 'status %d\n' "$status"
    cat "$work/subscribe.log"
    [ "$status" = 2 ] && grep -q "^framecast: --out: cannot flush $work/out to disk" "$work/subscribe.log" &&
        json "a['exit'] == 2 and a['subscribers'][0]['frames'] == 5" "$work/b.json" || return
    fresh_uri auto
    LD_PRELOAD=$work/disk.so start_subscriber --device host --out "$work/out" --no-sync
    timeout --kill-after=5 90 ./framecast publish "$uri" --input test --frame-bytes 1000 --frames 5 --json "$work/a.json" || return
    agree
}

# no_traces FILE…: nothing of the JVM is in what was said to people.
no_traces() {
    ! grep -q 'InternalError\|^	at \|Exception in' "$@"
}

# Both ends in a mount namespace with a small /dev/shm, which fills up once frames flow.
shared_memory_fills_up() {
    fresh_uri aeron "$ALIVE_KILLED_MS"
    URI=$uri WORK=$work unshare --mount bash -c '
        mount -t tmpfs -o size=320m tmpfs /dev/shm || exit
        timeout --kill-after=5 90 ./framecast subscribe "$URI" --device host --out "$WORK/out" >"$WORK/b.txt" 2>"$WORK/b.log" &
        subscriber=$!
        timeout --kill-after=5 90 ./framecast publish "$URI" --input test --frame-bytes 500000 --rate 10 --wait-subscribers 1 \
            >"$WORK/a.txt" 2>"$WORK/a.log" &
        publisher=$!
        for ((i = 0; i < 300; i++)); do
            [ ! -s "$WORK/out" ] || break
            sleep 0.1
        done
        head -c 400M /dev/zero >/dev/shm/fill 2>/dev/null
        status=0
        wait "$publisher" || status=$?
        printf "publisher %d\n" "$status"
        status=0
        wait "$subscriber" || status=$?
        printf "subscriber %d\n" "$status"' >"$work/statuses"
    tail -n 20 "$work/statuses" "$work/a.log" "$work/b.log"
    grep -qx 'publisher 2' "$work/statuses" && grep -qx 'subscriber [23]' "$work/statuses" || return
    [ "$(grep -c '^framecast: aeron: /dev/shm is full' "$work/a.log")" = 1 ] && no_traces "$work/a.log" "$work/b.log"
}

# No room for the driver's files, neither in shared memory nor where temporary files go.
no_shared_memory() {
    local status=0
    fresh_uri aeron
    unshare --mount bash -c 'mount -t tmpfs -o size=8m tmpfs /dev/shm && exec "$@"' bash \
        env FRAMECAST_JAVA_OPTS="${FRAMECAST_JAVA_OPTS:-} -Djava.io.tmpdir=/dev/shm" timeout --kill-after=5 60 \
        ./framecast publish "$uri" --input test --wait-timeout 5 --json - >"$work/out.json" 2>"$work/err" || status=$?
    printf 'status %d\n' "$status"
    cat "$work/out.json" "$work/err"
    [ "$status" = 2 ] && grep -q '^framecast: aeron: .*/dev/shm' "$work/err" && no_traces "$work/err" &&
        json "a['exit'] == 2" "$work/out.json"
}

# The status says whether a line does.
doctor_says() {
    local status=0
    timeout --kill-after=5 60 ./framecast doctor >"$work/doctor" || status=$?
    cat "$work/doctor"
    [ "$status" = "$(grep -q '^missing ' "$work/doctor" && echo 1 || echo 0)" ]
}

# shows PART ARGUMENT…: exit status 0, and PART in what it says on stdout.
shows() {
    local part=$1
    shift
    timeout --kill-after=5 60 ./framecast "$@" >"$work/out.txt" && cat "$work/out.txt" && grep -qF -- "$part" "$work/out.txt"
}

nothing_simulated() {
    local status=0
    timeout --kill-after=5 60 ./framecast simulate --seeds 1..4 --receivers 1 --loss 0.9 --json "$work/a.json" || status=$?
    [ "$status" = 1 ] && json "a['frames'] == 0" "$work/a.json"
}

timeout --kill-after=5 600 ./framecast --version >/dev/null

repairs="all(s['repaired_datagrams'] > 0 for s in a['subscribers'])"
for transport in udp aeron; do
    check "demo with loss, $transport" demo_verifies "$repairs" --transport "$transport" --loss 0.02 --seconds 3
    check "frames of 128 MB, $transport" demo_verifies "a['frame_bytes'] == 134217728" --transport "$transport" \
        --frame-bytes 134217728 --seconds 3 --rate 0 --subscribers 1
    check "stdin to a file, $transport" stdin_to_file "$transport"
    check "subscriber killed, $transport" subscriber_killed "$transport"
    check "publisher killed, $transport" publisher_killed "$transport"
done
if command -v ffmpeg >/dev/null; then
    check 'ffmpeg to the motion worker' ffmpeg_to_worker
    check 'ffmpeg that fails' ffmpeg_fails
else
    leave_out 'ffmpeg to the motion worker, ffmpeg that fails' 'ffmpeg is missing'
fi
check 'only subscriber killed' only_subscriber_killed
check 'subscriber stopped' stopped
check 'subscriber stopped, and joined again' stopped --rejoin 20s
check 'file interrupted' file_interrupted
check 'file cut while it is published' file_cut
check 'subscriber interrupted' subscriber_interrupted
check 'live input stopped' live_input_stopped
check 'stdin closed' stdin_closed
check 'FIFO without a writer' fifo_without_writer
check '--out into a FIFO without a reader' output_without_reader
if command -v cc >/dev/null; then
    check 'a disk that fails at the flush' flush_fails
else
    lacks 'a disk that fails at the flush' 'apt install gcc'
fi
if unshare --mount true 2>/dev/null; then
    check 'a full /dev/shm in mid-stream' shared_memory_fills_up
    check 'no shared memory at the start' no_shared_memory
else
    lacks 'a full /dev/shm' 'it needs root and mount namespaces'
fi
check 'status of doctor' doctor_says
check 'help' shows 'Usage: framecast publish' help publish
check 'help of a command within another' shows 'Usage: framecast bench streaming' help bench streaming
check 'simulation that checks nothing' nothing_simulated
fresh_uri auto
check 'unknown key' refused 'nearest is group' publish 'framecast:udp?grup=224.20.30.43:25100' --input test
check 'bad number' refused 'expected a number' publish "$uri|window=ten" --input test
check 'separator forgotten' refused "expected '|' between keys" publish "$uri&window=10" --input test
check 'command mistyped' refused 'nearest is subscribe' subscrbe "$uri"
check 'metrics port out of range' refused '--metrics-port: expected 0' publish "$uri" --input test --metrics-port 99999
check 'device that is not there' refused 'device=auto, which takes a device that works' demo --device cuda:77
check 'missing file' refused 'no such file' publish "$uri" --input /nonexistent/clip.raw
check 'unreadable device' refused 'cuda' subscribe "$uri" --device cuda:0
check 'no subscribers' refused 'no subscribers: 0 of 1 ready' publish "$uri" --input test --wait-timeout 0.5
check 'no source' refused 'no source was heard' subscribe "$uri" --wait-timeout 0.5
check 'frame longer than frame-max' refused 'frame-max' publish "$uri|frame-max=1000" --input test
check 'interface that is not there' refused 'interface' publish "${uri/127.0.0.1/nosuch0}" --input test
check 'ring of 1k' refused 'ring: expected 0 for the smallest that works' subscribe "$uri|ring=1k"
check 'stat every 0 s' refused '--every: expected seconds above 0' stat --every 0
check 'format that is none' refused 'expected TYPE[SHAPE]' publish "$uri" --input test --format shape=banana
check 'metrics port in use' metrics_port_in_use
check 'ring too small for frame-max' ring_too_small
end_cases
