#!/usr/bin/env bash
# Tests libframecast, the Python package and the GStreamer elements: their own tests, also under sanitizers, and with the real
# tool on loopback. `test.sh WORD` runs the tests that have the word in their names. FRAMECAST_TEST_FRAMES (10000) frames go
# through Python, FRAMECAST_TEST_CYCLES (100) times a pipeline starts and stops, FRAMECAST_TEST_RECORD (30) seconds are recorded.
# Exit status 77, with a reason: nothing can run.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
project=${here%/clients}
tool=$project/framecast
follower=$here/c/build/subscribe
only=${1:-}
work=$(mktemp -d)
export XDG_RUNTIME_DIR=$work/run
mkdir -m 700 "$XDG_RUNTIME_DIR"
. "$project/.ci/cases.sh"
short_processes
# shellcheck disable=SC2034 # read by is_wanted
FEW=(libframecast Python 'gstreamer: build' 'gstreamer: caps of each format' 'a publisher of this host, Python' 'the leader is killed'
    'a C program publishes' 'the next publisher' 'interrupts of Python programs' 'short streams in a row')
port=$((20000 + $$ % 10000))
children=()
export FRAMECAST_BUILD=skip

skip() {
    printf 'skipped: %s\n' "$1"
    exit 77
}

trap 'rm -rf -- "$work"' EXIT

kill_children() {
    for child in "${children[@]}"; do
        kill -9 "$child" 2>/dev/null || :
    done
}

command -v cc >/dev/null || skip 'no C compiler: apt install gcc libc6-dev'
command -v make >/dev/null || skip 'no make: apt install make'

# Runs the test of this name, and counts it.
check() {
    local name=$1
    local status=0
    shift
    case $name in *"$only"*) ;; *) return ;; esac
    is_wanted "$name" || return 0
    # Not as a condition, under which bash would go on behind a command that failed.
    (
        trap kill_children EXIT
        set -E
        trap 'echo "line $LINENO: $BASH_COMMAND" >&2' ERR
        "$@"
    ) >"$work/log" 2>&1 &
    wait "$!" || status=$?
    if [ "$status" = 0 ]; then
        pass "$name$(sed -n 's/^figures: /: /p' "$work/log" | tail -n 1)"
    else
        fail_case "$name"
        sed 's/^/        /' "$work/log"
    fi
    port=$((port + 8))
}

# A channel that no other test uses.
new_channel() {
    channel="framecast:udp?group=224.20.30.77:$port|interface=127.0.0.1|channel=clients"
}

# Starts a command, with its output in a file of this name; sets `started` to its process.
start() {
    local name=$1
    shift
    "$@" >"$work/$name" 2>&1 &
    started=$!
    children+=("$started")
}

# Waits for a process, at most a minute; its status.
status_of() {
    for _ in $(seq 600); do
        if ! kill -0 "$1" 2>/dev/null; then
            wait "$1"
            return
        fi
        sleep 0.1
    done
    echo "process $1 goes on after a minute: $(tr '\0' ' ' <"/proc/$1/cmdline")"
    return 1
}

# Waits until a file has a line.
await() {
    for _ in $(seq 300); do
        if grep -q -- "$2" "$work/$1" 2>/dev/null; then
            return 0
        fi
        sleep 0.1
    done
    echo "no '$2' in $1:"
    cat "$work/$1"
    return 1
}

crc_of() {
    grep -o 'crc32c"*:* *"*[0-9a-f]\{8\}' "$work/$1" | head -n 1 | grep -o '[0-9a-f]\{8\}$'
}

same_crc() {
    local expected
    expected=$(crc_of "$1")
    for file in "${@:2}"; do
        if [ "$(crc_of "$file")" != "$expected" ]; then
            echo "$file: expected crc32c $expected"
            cat "$work/$file"
            return 1
        fi
    done
}

test_install() {
    make -s -C "$here/c" install PREFIX=/opt/framecast DESTDIR="$work/root"
    cat >"$work/installed.c" <<'END'
#include <framecast.h>
#include <string.h>
int main(void) { return strcmp(fc_version(), FC_VERSION); }
END
    export PKG_CONFIG_PATH=$work/root/opt/framecast/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$work/root
    # shellcheck disable=SC2046 # A list of words.
    cc "$work/installed.c" $(pkg-config --cflags --libs framecast) -o "$work/installed"
    LD_LIBRARY_PATH=$work/root/opt/framecast/lib "$work/installed"
    # Nothing but libc, and no symbol but the API.
    local library=$work/root/opt/framecast/lib/libframecast.so.0
    if ldd "$library" | grep -v -e linux-vdso -e libc.so -e ld-linux \
        || nm -D --defined-only "$library" | grep -v -e ' fc_[a-z_0-9]*@@FRAMECAST_0.2' -e ' A FRAMECAST_0.2'; then
        return 1
    fi
}

# The n-th block of a language in a page.
block_of() {
    awk -v language="\`\`\`$2" -v wanted="$3" '
        $0 == "```" { inside = 0 }
        inside && number == wanted { print }
        $0 == language { inside = 1; number++ }' "$project/docs/$1"
}

# The programs of the pages read a stream of 20 frames.
test_pages() {
    block_of c.md c 1 >"$work/page.c"
    cc -Wall -Wextra -Werror -I"$here/c/include" "$work/page.c" -L"$here/c/build" -lframecast -Wl,-rpath,"$here/c/build" \
        -o "$work/page"
    block_of python.md python 1 >"$work/page.py"
    block_of python.md python 4 >"$work/page_asyncio.py"
    export PYTHONPATH=$here/python
    local program
    for program in "$work/page" "/usr/bin/python3 -B $work/page.py" "/usr/bin/python3 -B $work/page_asyncio.py"; do
        new_channel
        start publisher "$here/c/build/test/publisher" "$channel" 20 4096 4
        # shellcheck disable=SC2086 # A command and its arguments.
        $program "$channel" >"$work/lines"
        cat "$work/lines"
        [ "$(wc -l <"$work/lines")" = 20 ]
        status_of "$started"
    done
}

version_of() {
    "$1" -c "import $2; print($2.__version__)" 2>/dev/null || echo none
}

test_python() {
    cd "$here/python/tests"
    LD_LIBRARY_PATH=$here/c/build/test/cuda${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$1" -B -m unittest -v
    echo "figures: $("$1" --version), NumPy $(version_of "$1" numpy), PyTorch $(version_of "$1" torch)"
}

test_publisher() {
    new_channel
    start publisher "$tool" publish "$channel|host-group=auto" --input test --video 640x480xnv12 --frames 300 \
        --rate 0 --metadata hello --wait-subscribers 2
    local publisher=$started
    start one "$follower" --wait-ms 30000 "$channel"
    local one=$started
    start two "$follower" --wait-ms 30000 --poll --hold 3 "$channel"
    status_of "$started"
    status_of "$one"
    status_of "$publisher"
    same_crc publisher one two
    grep -q '^frames 300 bytes 138240000 .* lost 0 sessions 1 leaders 1: end of stream' "$work/one"
    echo "figures: $(grep -o '[0-9.]* MB/s' "$work/publisher") to each of two"
}

# A driver without a GPU: JCuda refers to every name, those that it does not define get a function that refuses.
make_driver() {
    local stub=$project/gpu-sink/src/test/c
    mkdir -p "$work/driver"
    {
        echo 'void framecast_stub_count(const char *);'
        sed -e '/^#/d' -e 's|.*|__attribute__((weak)) int &(void) { framecast_stub_count("&"); return 801; }|' "$stub/jcuda-symbols.txt"
    } >"$work/driver/weak.c"
    cc -shared -fPIC -O1 -pthread -Wl,-soname,libcuda.so.1 "$stub/stub_cuda.c" "$work/driver/weak.c" \
        -o "$work/driver/libcuda.so.1"
}

# A server that copies frames to its GPU, once for all who read them there.
test_device() {
    make_driver
    new_channel
    export LD_LIBRARY_PATH=$work/driver
    start server "$tool" serve "$channel|device=cuda:0"
    local server=$started
    start one "$here/c/build/test/device_follower" "$channel|device=cuda:0"
    local one=$started
    start two "$here/c/build/test/device_follower" "$channel|device=cuda:0|placement=shared"
    local two=$started
    start three "$follower" --wait-ms 30000 "$channel"
    local three=$started
    await server "waits for a source"
    sleep 1
    start publisher "$tool" publish "$channel" --input test --video 320x240xnv12 --frames 1500 --rate 300 --wait-subscribers 1
    status_of "$started"
    status_of "$one"
    status_of "$two"
    status_of "$three"
    same_crc publisher one two three
    cat "$work/one" "$work/two"
    grep -q 'by another process [1-9]' "$work/one"
    grep -q 'read there [1-9]' "$work/two"
    echo "figures: $(grep -o 'from the ring .*:' "$work/one") $(grep -o 'from the ring .*:' "$work/two")"
}

test_python_publisher() {
    new_channel
    start publisher "$tool" publish "$channel|host-group=auto" --input test --video 640x480xnv12 --frames 200 \
        --metadata hello --wait-subscribers 1
    local publisher=$started
    cat >"$work/program.py" <<'END'
import sys, zlib, framecast
bytes_, frames, metadata = 0, 0, set()
with framecast.subscribe(sys.argv[1], leader_wait=30) as stream:
    for frame in stream:
        frames += 1
        bytes_ += frame.view().nbytes
        metadata.add(frame.metadata)
print(frames, bytes_, metadata, stream.ended)
END
    PYTHONPATH=$here/python start program python3 -B "$work/program.py" "$channel"
    status_of "$started"
    status_of "$publisher"
    grep -qx "200 92160000 {b'hello'} True" "$work/program"
}

# Two Java subscribers, the first of which leads, and two in C. The leader is killed.
leaders() {
    [ $# -gt 0 ] || new_channel
    start leader "$tool" subscribe "$channel|host-group=auto" --device host --json -
    leader=$started
    await leader 'host group: leads'
    start survivor "$tool" subscribe "$channel|host-group=auto" --device host --json -
    survivor=$started
    await survivor 'host group: follows'
    # It warms up for leading.
    sleep 3
    start one "$follower" --wait-ms 30000 "$channel"
    one=$started
    start two "$follower" --wait-ms 30000 --poll --hold 3 "$channel"
    two=$started
    start publisher "$tool" publish "$channel" --input test --video 640x480xnv12 --frames 400 --wait-subscribers 1
    publisher=$started
    await publisher 'transport: udp'
    # They read by now, and most of the stream is still to come.
    await one '^frame 0: '
    await two '^frame 0: '
    sleep 1
}

test_leader_is_killed() {
    leaders
    kill -9 "$leader"
    status_of "$one"
    status_of "$two"
    status_of "$survivor"
    status_of "$publisher"
    same_crc publisher one two survivor
    grep -q '^frames 400 .* lost 0 sessions 1 leaders 2: end of stream' "$work/one"
    grep -q '^frames 400 .* lost 0 sessions 1 leaders 2: end of stream' "$work/two"
    # The successor's frames have the same format.
    cat "$work/one"
    [ "$(grep '^frame [0-9]' "$work/one")" = 'frame 0: 640x480xnv12, uint8[720x640]' ]
}

# Keys and a channel on which frames are encrypted, as auth= has it.
protected() {
    new_channel
    (umask 077 && for name in key other_key; do printf 'key1 %s\n' "$(od -An -vtx1 -N32 /dev/urandom | tr -d ' \n')" >"$work/$name"; done)
    channel="$channel|auth=psk:$work/key"
}

# A leader of a protected stream is killed; a client with another key finds no leader.
test_protected() {
    protected
    leaders "$channel"
    local status=0
    "$follower" --wait-ms 1000 "${channel/psk:*key/psk:$work/other_key}" >"$work/stranger" 2>&1 || status=$?
    cat "$work/stranger"
    [ "$status" = 2 ] && grep -q 'no process receives or publishes .* auth=, cipher= and payloads= are the same' "$work/stranger"
    PYTHONPATH=$here/python /usr/bin/python3 -B - "${channel/psk:*key/psk:$work/log}" <<'END'
import sys, framecast
try:
    framecast.subscribe(sys.argv[1])
except framecast.KeyFileError as error:
    print(error)
END
    kill -9 "$leader"
    status_of "$one"
    status_of "$two"
    status_of "$survivor"
    status_of "$publisher"
    same_crc publisher one two survivor
    grep -q '^frames 400 .* lost 0 sessions 1 leaders 2: end of stream' "$work/one"
    grep -q '^frames 400 .* lost 0 sessions 1 leaders 2: end of stream' "$work/two"
}

# A client publishes on a protected stream, whose window its server's host reads.
test_publish_protected() {
    protected
    serve "$channel"
    receive near
    local near=$started
    start one "$follower" --wait-ms 30000 "$channel|host-group=auto"
    local one=$started
    local status=0
    "$producer" --frames 10 --wait-ms 100 "${channel/psk:*key/psk:$work/other_key}" >"$work/stranger" 2>&1 || status=$?
    cat "$work/stranger"
    [ "$status" = 2 ] && grep -q 'no process publishes for clients' "$work/stranger"
    start program "$producer" --frames 3000 --bytes 7000 --wait-subscribers 2 "$channel"
    status_of "$started"
    status_of "$near"
    status_of "$one"
    same_crc program near one
    grep -q '^frames 3000 .* lost 0 .*: end of stream' "$work/one"
}

# The leader and the source are killed together: the others lose the source, and do not wait.
test_leader_and_source_are_killed() {
    new_channel
    channel="$channel|alive-timeout=1000"
    leaders "$channel"
    kill -9 "$leader" "$publisher"
    for member in "$survivor" "$one" "$two"; do
        local status=0
        status_of "$member" || status=$?
        [ "$status" = 3 ]
    done
    cat "$work/survivor" "$work/one"
    grep -q 'source lost after [0-9]* frames' "$work/survivor"
    grep -q 'the source of clients is gone without an end of stream' "$work/one"
}

test_leader_stands_still() {
    leaders
    kill -STOP "$leader"
    status_of "$one"
    status_of "$two"
    status_of "$survivor"
    status_of "$publisher"
    kill -9 "$leader"
    same_crc publisher one two survivor
    grep -q '^frames 400 .* lost 0 sessions 1 leaders 2: end of stream' "$work/one"
}

test_follower_is_killed() {
    leaders
    kill -9 "$one"
    status_of "$two"
    status_of "$survivor"
    status_of "$leader"
    status_of "$publisher"
    same_crc publisher two survivor leader
}

# The newest frames, to a reader that takes 30 ms for each; the source does not wait.
test_latest() {
    new_channel
    start publisher "$tool" publish "$channel|host-group=auto" --input test --video 320x240xnv12 --frames 400 --rate 200 \
        --wait-subscribers 1
    local publisher=$started
    start one "$follower" --wait-ms 30000 --delay-us 30000 "$channel|delivery=latest"
    status_of "$started"
    status_of "$publisher"
    local frames lost
    read -r frames lost < <(sed -n 's/^frames \([0-9]*\) .* lost \([0-9]*\) .*: end of stream/\1 \2/p' "$work/one")
    cat "$work/one" "$work/publisher"
    [ $((frames + lost)) = 400 ] && [ "$lost" -gt 100 ]
    echo "figures: $frames frames read, $lost superseded"
}

test_source_is_lost() {
    new_channel
    start publisher "$tool" publish "$channel|host-group=auto" --input test --video 640x480xnv12 --wait-subscribers 1
    local publisher=$started
    start one "$follower" --wait-ms 30000 "$channel"
    local one=$started
    await publisher 'transport: udp'
    sleep 3
    kill -9 "$publisher"
    local status=0
    status_of "$one" || status=$?
    cat "$work/one"
    [ "$status" = 3 ]
    grep -q 'subscribe: the source of clients is gone without an end of stream; rejoin=10s' "$work/one"
}

test_next_publisher() {
    new_channel
    start publisher "$tool" publish "$channel|host-group=auto" --input test --video 640x480xnv12 --wait-subscribers 1
    local publisher=$started
    start one "$follower" --wait-ms 30000 "$channel|rejoin=1m"
    local one=$started
    await publisher 'transport: udp'
    sleep 3
    kill -9 "$publisher"
    start publisher "$tool" publish "$channel|host-group=auto" --input test --video 640x480xnv12 --frames 50 --wait-subscribers 1
    status_of "$started"
    status_of "$one"
    cat "$work/one"
    grep -q ' sessions 2 leaders 2: end of stream' "$work/one"
}

# The only Java subscriber is killed: no process may lead.
test_no_successor() {
    new_channel
    start leader "$tool" subscribe "$channel|host-group=auto" --device host --json -
    local leader=$started
    await leader 'host group: leads'
    start one "$follower" --wait-ms 1500 "$channel"
    local one=$started
    start publisher "$tool" publish "$channel" --input test --video 640x480xnv12 --wait-subscribers 1
    await publisher 'transport: udp'
    sleep 3
    kill -9 "$leader"
    local status=0
    status_of "$one" || status=$?
    cat "$work/one"
    [ "$status" = 3 ]
    grep -q 'subscribe: host group: the leader is gone, and no other one came within 1500 ms; start `framecast serve URI`' "$work/one"
}

test_nobody_leads() {
    new_channel
    local status=0
    "$follower" --wait-ms 100 "$channel" >"$work/one" 2>&1 || status=$?
    cat "$work/one"
    [ "$status" = 2 ]
    grep -q 'subscribe: host group: no process receives or publishes clients on this host; start' "$work/one"
}

# What the tool says of its pictures, in C and Python.
test_formats() {
    new_channel
    start publisher "$tool" publish "$channel|host-group=auto" --input test --video 64x48xrgb24 --format rate=30,camera=left \
        --frames 100 --wait-subscribers 2
    local publisher=$started
    start one "$follower" --wait-ms 30000 "$channel"
    local one=$started
    cat >"$work/program.py" <<'END'
import sys, framecast, numpy
table = []
for crc in range(256):
    for _ in range(8):
        crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    table.append(crc)
crc = 0xFFFFFFFF
with framecast.subscribe(sys.argv[1], device="host", leader_wait=30) as stream:
    for frame in stream:
        if frame.number == 0:
            first = frame.format
            print(numpy.from_dlpack(frame).shape, frame.numpy().dtype, first, first.rate, first.keys["camera"])
        assert frame.format is first and frame.numpy().shape == (48, 64, 3)
        for byte in frame.numpy().tobytes():
            crc = crc >> 8 ^ table[(crc ^ byte) & 255]
print(f"crc32c {crc ^ 0xFFFFFFFF:08x}", stream.ended)
END
    PYTHONPATH=$here/python start program /usr/bin/python3 -B "$work/program.py" "$channel"
    status_of "$started"
    status_of "$one"
    status_of "$publisher"
    cat "$work/one" "$work/program"
    same_crc publisher one program
    grep -qx 'frame 0: 64x48xrgb24, uint8\[48x64x3\], 30/s, camera=left' "$work/one"
    grep -qx '(48, 64, 3) uint8 64x48xrgb24, uint8\[48x64x3\], 30/s, camera=left 30 left' "$work/program"
}

# 20 black pictures of 64 × 48, on which a white square of 8 × 8 moves from the 6th to the 15th.
make_square() {
    /usr/bin/python3 - "$1" <<'END'
import sys
with open(sys.argv[1], "wb") as file:
    for number in range(20):
        left = 4 * min(max(number - 5, 0), 10)
        for y in range(48):
            row = bytearray(64 * 3)
            if 20 <= y < 28:
                row[3 * left : 3 * (left + 8)] = b"\xff" * 24
            file.write(row)
END
}

test_samples() {
    g++ -std=c++17 -O2 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -I"$here/c/include" "$here/samples/watch.cpp" \
        -L"$here/c/build" -lframecast -Wl,-rpath,"$here/c/build" -o "$work/watch.bin"
    make_square "$work/square"
    new_channel
    start publisher "$tool" publish "$channel|host-group=auto" --input "$work/square" --video 64x48xrgb24 --wait-subscribers 2
    local publisher=$started
    start watch "$work/watch.bin" "$channel"
    local watch=$started
    PYTHONPATH=$here/python start motion /usr/bin/python3 -B "$here/samples/motion.py" "$channel"
    status_of "$started"
    status_of "$watch"
    status_of "$publisher"
    cat "$work/watch" "$work/motion"
    grep -qx 'frame 0: 64x48xrgb24, uint8\[48x64x3\]' "$work/watch"
    grep -q '^20 frames, 0.2 MB, 0 lost, age .* brightness 5.3$' "$work/watch"
    grep -qx 'end of stream after 20 frames' "$work/watch"
    # It appears where it was, and goes on by 4 pixels.
    grep -qx 'frame 6: 2.1% changed, 12x8 at 0,20' "$work/motion"
    grep -qx 'frame 15: 2.1% changed, 12x8 at 36,20' "$work/motion"
    grep -qx '10 of 20 frames moved' "$work/motion"
}

# Ten squares, ten discs, ten pictures of stripes, of 96 × 64.
make_shapes() {
    /usr/bin/python3 - "$1" <<'END'
import sys
with open(sys.argv[1], "wb") as file:
    for number in range(30):
        picture = bytearray()
        for y in range(64):
            for x in range(96):
                # As the network sees it, a square of 1 × 1.
                u, v = x / 96, y / 64
                left, top, radius = 0.4 + number % 5 / 25, 0.4 + number % 3 / 15, 0.24 + number % 4 / 100
                inside = (
                    abs(u - left) < radius and abs(v - top) < radius,
                    (u - left) ** 2 + (v - top) ** 2 < radius**2,
                    (u * 5 + left) % 1 < 0.5,
                )[number // 10]
                picture += bytes((220, 200, 210)) if inside else bytes((30, 30, 30))
        file.write(picture)
END
}

# Pictures to a network in PyTorch, and its scores on to a subscriber in Java.
test_classify() {
    make_shapes "$work/shapes"
    new_channel
    local camera=$channel
    local scores=${channel/channel=clients/channel=scores}
    start server "$tool" serve --publish "$scores|frame-max=4096"
    await server 'publishes for clients'
    start java "$tool" subscribe "$scores" --device host --json - --wait-timeout 60
    local java=$started
    PYTHONPATH=$here/python start classify /usr/bin/python3 -B "$here/samples/classify.py" "$camera" "$scores"
    local classify=$started
    await classify '^trained'
    start publisher "$tool" publish "$camera|host-group=auto" --input "$work/shapes" --video 96x64xrgb24 --rate 10 \
        --wait-subscribers 1
    status_of "$classify"
    status_of "$started"
    status_of "$java"
    cat "$work/classify" "$work/java"
    # Some may be superseded where the machine is busy.
    local shown right
    shown=$(grep -c '^frame ' "$work/classify")
    right=$(grep -c -e '^frame [0-9]: square' -e '^frame 1[0-9]: disc' -e '^frame 2[0-9]: stripes' "$work/classify")
    [ "$shown" -ge 15 ] && [ "$right" = "$shown" ]
    grep -q "^end of stream after $shown frames, $((30 - shown)) were superseded" "$work/classify"
    grep -q "\"frames\": *$shown\b" "$work/java"
    grep -q '"text": *"float32\[3\], labels=square disc stripes"' "$work/java"
    echo "figures: $right of $shown pictures right, PyTorch $(version_of /usr/bin/python3 torch)"
}

launch() {
    gst-launch-1.0 -q "$@"
}

# A file goes through a pipeline without a change. Rows of these sizes have no gaps in GStreamer either.
test_gstreamer_file() {
    local video publisher
    for video in 64x48xrgb24 64x48xnv12 32x16xyuv422p10le 40x24xgray; do
        head -c 460800 /dev/urandom >"$work/file"
        new_channel
        start publisher "$tool" publish "$channel|host-group=auto" --input "$work/file" --video "$video" --wait-subscribers 1
        publisher=$started
        start pipeline launch framecastsrc uri="$channel" timeout=30000 ! filesink location="$work/copy"
        status_of "$started"
        status_of "$publisher"
        cat "$work/pipeline"
        cmp "$work/file" "$work/copy"
        port=$((port + 8))
    done
    head -c 192000 /dev/urandom >"$work/file"
    new_channel
    start publisher "$tool" publish "$channel|host-group=auto" --input "$work/file" --frame-bytes 1920 \
        --format 'int16[480x2],samples=48000x2' --wait-subscribers 1
    publisher=$started
    start pipeline launch framecastsrc uri="$channel" timeout=30000 ! audio/x-raw,rate=48000,channels=2 ! audioconvert \
        ! filesink location="$work/copy"
    status_of "$started"
    status_of "$publisher"
    cmp "$work/file" "$work/copy"
    port=$((port + 8))
    # Rows of 99 bytes have gaps in GStreamer: its elements read the planes where they lie, and give the same picture.
    head -c 33660 /dev/urandom >"$work/file"
    new_channel
    start publisher "$tool" publish "$channel|host-group=auto" --input "$work/file" --video 33x17xrgb24 --wait-subscribers 1
    publisher=$started
    start pipeline launch framecastsrc uri="$channel" timeout=30000 ! videoconvert ! video/x-raw,format=GBR \
        ! filesink location="$work/copy"
    status_of "$started"
    status_of "$publisher"
    /usr/bin/python3 - "$work/file" "$work/copy" <<'END'
import sys
packed, planes = (open(path, "rb").read() for path in sys.argv[1:])
pictures = len(packed) // (33 * 17 * 3)
size = len(planes) // pictures
row = size // 3 // 17
for picture in range(pictures):
    for plane, sample in enumerate((1, 2, 0)):
        for y in range(17):
            at = (picture * 17 + y) * 99
            begin = picture * size + (plane * 17 + y) * row
            assert packed[at + sample : at + 99 : 3] == planes[begin : begin + 33], (picture, plane, y)
END
}

# Pictures with gaps, samples, others' caps, tensors, and pictures without gaps: two frames of each.
formats=(
    a36176016770696374757265a566706978656c736572676232346577696474681821666865696768741166706c616e657381820318806572616e676502647261746582181901
    a36176016674656e736f72a2647479706583001001657368617065821901e0026773616d706c6573a2647261746519bb80686368616e6e656c7302
    a2617601646b657973a164636170737845766964656f2f782d683236342c2073747265616d2d666f726d61743d28737472696e6729627974652d73747265616d2c20616c69676e6d656e743d28737472696e67296175
    a36176016674656e736f72a264747970658302182001657368617065820304646b657973a161616162
    a36176016770696374757265a566706978656c73646e763132657769647468184066686569676874183066706c616e6573828200184082190c0018406572616e6765016472617465821975301903e9
)

# What its elements see of them.
test_gstreamer_caps() {
    local watch=$here/gstreamer/build/test/watch
    local planes
    for planes in '' --planes; do
        new_channel
        start publisher "$here/c/build/test/publisher" "$channel" 10 5000 4 1 "${formats[@]}"
        local publisher=$started
        # shellcheck disable=SC2086 # No argument, or one.
        "$watch" $planes "$channel" >"$work/seen"
        status_of "$publisher"
        cat "$work/seen"
        [ "$(grep -c '^caps ' "$work/seen")" = 5 ]
        [ "$(grep -c '^buffer ' "$work/seen")" = 10 ]
        grep -q '^caps video/x-raw, format=(string)RGB, width=(int)33, height=(int)17, framerate=(fraction)25/1' "$work/seen"
        grep -qx 'caps audio/x-raw, format=(string)S16LE, layout=(string)interleaved, rate=(int)48000, channels=(int)2' "$work/seen"
        grep -q '^caps video/x-h264, stream-format=(string)byte-stream' "$work/seen"
        grep -q '^caps application/x-framecast, ' "$work/seen"
        grep -q '^caps video/x-raw, format=(string)NV12, .*(fraction)30000/1001, colorimetry=(string)bt601' "$work/seen"
        grep -qx 'buffer 2 bytes 1920 first 2 since 1 source 1002 readonly metadata m2' "$work/seen"
        grep -qx 'buffer 9 bytes 4608 first 9 since 1 source 1009 readonly offset 3072 stride 64 metadata m9' "$work/seen"
        # One frame of 30000/1001 a second.
        grep -qx 'latency 33366666 live' "$work/seen"
        if [ -n "$planes" ]; then
            grep -qx 'buffer 1 bytes 5000 first 1 since 1 source 1001 readonly offset 3 stride 128 metadata m1' "$work/seen"
        else
            grep -qx 'buffer 1 bytes 1700 first 1 since 1 source 1001 metadata m1' "$work/seen"
        fi
        port=$((port + 8))
    done
}

test_gstreamer_stops() {
    new_channel
    start publisher "$here/c/build/test/publisher" "$channel" 1000000000 5000 4 1 "${formats[@]}"
    "$here/gstreamer/build/test/cycles" "$channel" "${FRAMECAST_TEST_CYCLES:-100}" >"$work/cycles" || { cat "$work/cycles"; return 1; }
    echo "figures: $(cat "$work/cycles")"
}

# Errors come in one line.
test_gstreamer_errors() {
    local watch=$here/gstreamer/build/test/watch
    new_channel
    start publisher "$here/c/build/test/publisher" "$channel" 1000000000 5000 4 1 "${formats[@]}"
    local publisher=$started
    start seen "$watch" "$channel"
    local seen=$started
    await seen '^buffer'
    kill -9 "$publisher"
    local status=0
    status_of "$seen" || status=$?
    [ "$status" = 1 ]
    tail -n 2 "$work/seen" | grep '^error the source of clients is gone without an end of stream; rejoin=10s'
    new_channel
    start publisher "$here/c/build/test/publisher" "$channel" 10 500 4 1 "${formats[@]}"
    "$watch" "$channel" >"$work/short" || status=$?
    tail -n 2 "$work/short" | grep '^error frame 0 of 500 bytes is shorter than its format says: 2150 bytes'
    if "$here/gstreamer/build/test/run" framecastsrc uri="$channel-absent" timeout=100 ! fakesink >"$work/line" 2>&1; then
        return 1
    fi
    cat "$work/line"
    grep 'no process receives or publishes clients-absent on this host' "$work/line"
}

# A pipeline that publishes, also into a file, and one that follows it into another.
publish_to_file() {
    start pipeline launch framecastsrc uri="$channel" timeout=30000 ! filesink location="$work/copy"
    local pipeline=$started
    # The file is written when the pipeline plays: when there is a subscriber.
    timeout 60 gst-launch-1.0 -q "$@" ! tee name=both ! queue ! framecastsink uri="$channel" sync=false \
        both. ! queue ! filesink location="$work/local"
    status_of "$pipeline"
    cat "$work/pipeline"
}

# Buffers arrive byte for byte. Rows of 33 pixels have gaps, which videotestsrc leaves as they were; NV16 has no format but its
# caps; the last buffer of a file is shorter.
test_gstreamer_sink_file() {
    local pictures='videotestsrc num-buffers=30 ! video/x-raw,width=33,height=17'
    head -c 40001 /dev/urandom >"$work/file"
    local each
    serve
    for each in "$pictures,format=RGB" "$pictures,format=NV12,width=64" \
        "$pictures,format=I420" "$pictures,format=NV16" 'audiotestsrc num-buffers=100 ! audio/x-raw,format=S16LE,channels=2' \
        'audiotestsrc num-buffers=10 samplesperbuffer=441 ! audio/x-raw,format=F32LE,rate=44100,channels=6,channel-mask=(bitmask)0x3f' \
        "filesrc location=$work/file blocksize=4096"; do
        # shellcheck disable=SC2086 # A list of words.
        publish_to_file $each
        cmp "$work/local" "$work/copy"
        echo "$(wc -c <"$work/copy") bytes: $each"
    done
    # Of another process, too.
    publish_to_file videotestsrc num-buffers=300 ! video/x-raw,format=RGB,width=640,height=480
    launch videotestsrc num-buffers=300 ! video/x-raw,format=RGB,width=640,height=480 ! filesink location="$work/local"
    cmp "$work/local" "$work/copy"
    echo "figures: 300 pictures of 640 x 480, others, and samples"
}

# Formats in mid-stream, times, metadata, and caps that are those of the publishing pipeline.
test_gstreamer_sink_caps() {
    local video='video/x-raw,format=I420,width=64,height=48,framerate=25/1,chroma-site=mpeg2,colorimetry=bt709'
    serve
    start seen "$here/gstreamer/build/test/watch" "$channel"
    local seen=$started
    timeout 60 gst-launch-1.0 -q concat name=all ! framecastsink uri="$channel" metadata=hello \
        videotestsrc num-buffers=5 ! "$video" ! all. videotestsrc num-buffers=5 ! video/x-raw,format=RGB,width=40,height=24,framerate=50/1 \
        ! all. audiotestsrc num-buffers=5 ! audio/x-raw,format=S16LE,rate=48000,channels=2 ! all.
    status_of "$seen"
    cat "$work/seen"
    [ "$(grep -c '^caps ' "$work/seen")" = 3 ]
    [ "$(grep -c '^buffer ' "$work/seen")" = 15 ]
    grep -q '^caps video/x-raw, .*format=(string)I420.*chroma-site=(string)mpeg2.*colorimetry=(string)bt709' "$work/seen"
    grep -qx 'caps video/x-raw, format=(string)RGB, width=(int)40, height=(int)24, framerate=(fraction)50/1, colorimetry=(string)sRGB' "$work/seen"
    grep -qx 'caps audio/x-raw, format=(string)S16LE, layout=(string)interleaved, rate=(int)48000, channels=(int)2' "$work/seen"
    [ "$(grep -c ' since 40000000 .* metadata hello$' "$work/seen")" = 5 ]
    [ "$(grep -c ' since 20000000 .* metadata hello$' "$work/seen")" = 5 ]
    ! grep -e ' delta' "$work/seen"
    # The first picture has the time at which it was to be shown.
    local source now
    source=$(grep '^buffer 0 ' "$work/seen" | grep -o 'source [0-9]*' | grep -o '[0-9]*')
    now=$(date +%s)
    [ $((now - source / 1000000000)) -lt 30 ] && [ $((source / 1000000000 - now)) -lt 1 ]
}

test_gstreamer_sample() {
    unset DISPLAY WAYLAND_DISPLAY
    serve
    start watch "$here/samples/pipeline.sh" watch "$channel"
    local watch=$started
    "$here/samples/pipeline.sh" publish "$channel" 30
    status_of "$watch"
    grep -q 'caps = video/x-raw.*NV12.*width=(int)640, height=(int)480, framerate=(fraction)30/1' "$work/watch" || { cat "$work/watch"; return 1; }
    [ "$(grep -c 'last-message = chain .*(460800 bytes' "$work/watch")" = 30 ]
    local status=0
    "$here/samples/pipeline.sh" record "$channel" 2>"$work/usage" || status=$?
    [ "$status" = 2 ] && grep -q 'pipeline.sh watch URI' "$work/usage"
}

# Rows lie where the buffer has them. Elements that know only GStreamer's layout get the same pictures.
test_gstreamer_sink_planes() {
    local video='videotestsrc num-buffers=10 ! video/x-raw,format=RGB,width=40,height=24'
    serve
    start seen "$here/gstreamer/build/test/watch" --planes "$channel"
    local seen=$started
    start pipeline launch framecastsrc uri="$channel" timeout=30000 ! filesink location="$work/copy"
    local pipeline=$started
    # shellcheck disable=SC2086 # A list of words.
    "$here/gstreamer/build/test/run" --planes $video ! framecastsink name=sink uri="$channel" wait-subscribers=2
    status_of "$seen"
    status_of "$pipeline"
    cat "$work/seen"
    [ "$(grep -c '^buffer .* bytes 5824 first 238 .* offset 64 stride 240' "$work/seen")" = 10 ]
    # shellcheck disable=SC2086 # A list of words.
    launch $video ! filesink location="$work/local"
    cmp "$work/local" "$work/copy"
}

# Each pixel format that both sides know, and the tensors that PixelFormat in Java gives.
test_gstreamer_pixels() {
    local branches=() each
    local pixels=(GRAY8=gray=uint8[48x64] GRAY16_LE=gray16le=uint16[48x64] RGB16=rgb565le=uint16[48x64] RGB=rgb24=uint8[48x64x3]
        BGR=bgr24=uint8[48x64x3] RGBA=rgba=uint8[48x64x4] BGRA=bgra=uint8[48x64x4] ARGB=argb=uint8[48x64x4]
        ABGR=abgr=uint8[48x64x4] RGBx=rgb0=uint8[48x64x4] BGRx=bgr0=uint8[48x64x4] RGBA64_LE=rgba64le=uint16[48x64x4]
        GBR=gbrp=uint8[3x48x64] YUY2=yuyv422=uint8[48x64x2] UYVY=uyvy422=uint8[48x64x2] I420=yuv420p=uint8[72x64]
        I420_10LE=yuv420p10le=uint16[72x64] NV12=nv12=uint8[72x64] NV21=nv21=uint8[72x64] P010_10LE=p010le=uint16[72x64]
        Y42B=yuv422p=uint8[96x64] I422_10LE=yuv422p10le=uint16[96x64] Y444=yuv444p=uint8[3x48x64])
    for each in "${pixels[@]}"; do
        branches+=(videotestsrc num-buffers=1 ! "video/x-raw,format=${each%%=*},width=64,height=48,framerate=30/1" ! all.)
    done
    serve
    start one "$follower" --wait-ms 30000 "$channel|host-group=auto"
    local one=$started
    launch concat name=all ! framecastsink uri="$channel" "${branches[@]}"
    status_of "$one"
    cat "$work/one"
    local number=0
    for each in "${pixels[@]}"; do
        each=${each#*=}
        grep -q -F "frame $number: 64x48x${each%=*}, ${each#*=}, 30/s" "$work/one"
        number=$((number + 1))
    done
}

# From one channel to another, with the source's times and metadata.
test_gstreamer_relay() {
    serve
    local first=$channel
    port=$((port + 4))
    new_channel
    start second "$tool" serve --publish "$channel"
    await second 'publishes for clients'
    start far "$here/gstreamer/build/test/watch" "$channel"
    local far=$started
    start near "$here/gstreamer/build/test/watch" "$first"
    local near=$started
    start relay gst-launch-1.0 -q framecastsrc uri="$first" timeout=30000 ! queue ! framecastsink uri="$channel" sync=false
    local relay=$started
    launch videotestsrc num-buffers=20 ! video/x-raw,format=NV12,width=64,height=48,framerate=100/1 \
        ! framecastsink uri="$first" metadata=hello wait-subscribers=2
    status_of "$relay"
    status_of "$near"
    status_of "$far"
    cat "$work/near"
    [ "$(grep -c '^buffer .* metadata hello' "$work/near")" = 20 ]
    diff <(grep -v '^latency' "$work/near") <(grep -v '^latency' "$work/far")
}

# A seek leaves the stream, and one behind its end begins another.
test_gstreamer_sink_seeks() {
    serve
    start seek "$here/gstreamer/build/test/seek" "$channel"
    local seek=$started
    await seek '^seek done'
    start first "$here/gstreamer/build/test/watch" "$channel"
    status_of "$started" || { cat "$work/first" "$work/seek"; return 1; }
    start second "$here/gstreamer/build/test/watch" "$channel"
    status_of "$started"
    status_of "$seek"
    cat "$work/seek" "$work/second"
    [ "$(grep -c '^buffer ' "$work/first")" = 25 ]
    [ "$(grep -c '^buffer ' "$work/second")" -ge 30 ]
    [ "$(grep -c '^buffer ' "$work/second")" -le 50 ]
}

# The subscriber stands still: a pipeline that stops does not wait for it.
test_gstreamer_sink_full() {
    serve
    start watch "$here/gstreamer/build/test/watch" "$channel"
    local watch=$started
    start pipeline gst-launch-1.0 -q videotestsrc ! video/x-raw,format=RGB,width=1280,height=720 ! framecastsink uri="$channel" sync=false
    await watch '^buffer 10 '
    kill -STOP "$watch"
    sleep 2
    local begin=$SECONDS
    kill -INT "$started"
    status_of "$started" || :
    kill -9 "$watch"
    cat "$work/pipeline"
    [ $((SECONDS - begin)) -le 2 ]
}

test_gstreamer_sink_stops() {
    serve
    "$here/gstreamer/build/test/cycles" --sink "$channel" "${FRAMECAST_TEST_CYCLES:-100}" >"$work/cycles" \
        || { cat "$work/cycles"; return 1; }
    echo "figures: $(cat "$work/cycles")"
}

# An error ends the pipeline, in one line of the sink.
one_line_of() {
    local status=0
    timeout 60 "$here/gstreamer/build/test/run" "${@:2}" >"$work/line" 2>&1 || status=$?
    cat "$work/line"
    [ "$status" = 1 ] && [ "$(grep -c 'framecastsink' "$work/line")" = 1 ] && [ "$(grep -c ": .*$1" "$work/line")" = 1 ]
}

test_gstreamer_sink_errors() {
    one_line_of 'no process publishes for clients of absent on this host; start `framecast serve' fakesrc num-buffers=1 \
        ! framecastsink uri='framecast:udp?group=224.20.30.77:1|channel=absent' timeout=100
    one_line_of 'unknown key gruop' fakesrc num-buffers=1 ! framecastsink uri='framecast:udp?gruop=224.20.30.77:1'
    # The base class adds that its state did not change.
    "$here/gstreamer/build/test/run" fakesrc num-buffers=1 ! framecastsink >"$work/line" || :
    grep 'framecastsink.*no uri; set uri=' "$work/line"
    # Memory that it cannot read is not negotiated.
    if "$here/gstreamer/build/test/run" fakesrc num-buffers=1 ! 'video/x-raw(memory:GLMemory)' ! framecastsink uri='framecast:udp?group=224.20.30.77:1'; then
        return 1
    fi
    serve
    start seen "$here/gstreamer/build/test/watch" "$channel|frame-max=64k"
    local seen=$started
    one_line_of 'a frame of 70000 bytes is longer than the 65536' fakesrc num-buffers=1 sizetype=2 sizemax=70000 \
        ! framecastsink uri="$channel|frame-max=64k"
    status_of "$seen" || :
    # Buffers of no bytes are no frames, and a stream without frames ends.
    start seen "$here/gstreamer/build/test/watch" "$channel"
    timeout 60 gst-launch-1.0 -q fakesrc num-buffers=3 sizetype=1 ! framecastsink uri="$channel"
    status_of "$started"
    [ "$(grep -c '^buffer ' "$work/seen")" = 0 ]
    start seen "$here/gstreamer/build/test/watch" "$channel"
    start pipeline "$here/gstreamer/build/test/run" videotestsrc ! framecastsink uri="$channel"
    local pipeline=$started
    await seen '^buffer 10 '
    kill -9 "$server"
    local status=0
    status_of "$pipeline" || status=$?
    cat "$work/pipeline"
    [ "$status" = 1 ] && [ "$(grep -c '^error of framecastsink.*is gone; start `framecast serve' "$work/pipeline")" = 1 ]
}

# Starts a publisher of random pictures; sets `video`, `publisher`.
publish_pictures() {
    video=${1%%=*}
    local bytes=${1#*=}
    head -c $((20 * bytes)) /dev/urandom >"$work/file"
    new_channel
    start publisher "$tool" publish "$channel|host-group=auto" --input "$work/file" --video "$video" --wait-subscribers 1
    publisher=$started
}

# Pictures pass through CUDA's memory, by GStreamer's library and a driver without a GPU, without a change. GStreamer has no gray
# ones there, and odd ones of three planes stay on the host.
test_gstreamer_device() {
    local each where on
    make_driver
    for each in 64x48xnv12=4608=20 64x48xrgb24=9216=20 33x17xrgb24=1683=20 33x17xnv12=867=20 64x48xyuv420p=4608=20 \
        32x16xyuv422p10le=2048=20 40x24xyuv444p=2880=20 40x24xbgra=3840=20 34x9xyuyv422=612=20 40x24xgbrp=2880=20 \
        40x24xgray=960=0 33x17xyuv420p=867=0; do
        on=${each##*=}
        publish_pictures "${each%=*}"
        read_back "$channel" cuda:0
        where='(memory:CUDAMemory)'
        [ "$on" != 0 ] || where=
        grep -q -F "caps video/x-raw$where, format" "$work/seen"
        [ "$(tail -n 1 "$work/seen")" = "pictures 20 on the GPU $on" ]
    done
    # The device of the URI, one that the property takes back, and elements that ask for none.
    publish_pictures 64x48xnv12=4608
    read_back "$channel|device=cuda:0" ''
    [ "$(tail -n 1 "$work/seen")" = 'pictures 20 on the GPU 20' ]
    publish_pictures 64x48xnv12=4608
    read_back "$channel|device=cuda:0" host
    [ "$(tail -n 1 "$work/seen")" = 'pictures 20 on the GPU 0' ]
    publish_pictures 64x48xnv12=4608
    read_back --host "$channel" cuda:0
    [ "$(tail -n 1 "$work/seen")" = 'pictures 20 on the GPU 0' ]
    echo "figures: 10 kinds of pictures on the stub, GStreamer's CUDA library $(pkg-config --modversion gstreamer-cuda-1.0)"
}

# The pictures as they are read from a GPU's memory are those that were published, and nothing is left there.
read_back() {
    LD_LIBRARY_PATH=$work/driver start seen "$here/gstreamer/build/test/device" "$@" "$work/copy"
    status_of "$started"
    status_of "$publisher"
    cat "$work/seen"
    cmp "$work/file" "$work/copy"
    port=$((port + 8))
}

test_gstreamer_device_stops() {
    make_driver
    new_channel
    start publisher "$here/c/build/test/publisher" "$channel" 1000000000 5000 4 1 "${formats[4]}"
    LD_LIBRARY_PATH=$work/driver "$here/gstreamer/build/test/cycles" --device "$channel" "${FRAMECAST_TEST_CYCLES:-100}" \
        >"$work/cycles" || { cat "$work/cycles"; return 1; }
    echo "figures: $(cat "$work/cycles")"
}

# GStreamer's own elements read the pictures, in the context that the source gives them: in one of their own this driver gives no
# memory. They are there where NVIDIA's decoder is.
test_gstreamer_download() {
    local name
    make_driver
    for name in CtxLockCreate CtxLockDestroy CtxLock CtxUnlock CreateDecoder DestroyDecoder DecodePicture CreateVideoParser \
        ParseVideoData DestroyVideoParser MapVideoFrame MapVideoFrame64 UnmapVideoFrame UnmapVideoFrame64 GetDecoderCaps; do
        echo "int cuvid$name(void) { return 801; }"
    done >"$work/driver/cuvid.c"
    cc -shared -fPIC -Wl,-soname,libnvcuvid.so.1 "$work/driver/cuvid.c" -o "$work/driver/libnvcuvid.so.1"
    export GST_REGISTRY=$work/gstreamer-cuda FRAMECAST_STUB_BLOCKING_STREAMS=1
    for name in cudadownload 'tee ! queue ! cudadownload' 'video/x-raw(memory:CUDAMemory) ! queue ! cudadownload'; do
        publish_pictures 64x48xnv12=4608
        # shellcheck disable=SC2086 # A list of words.
        LD_LIBRARY_PATH=$work/driver start pipeline launch framecastsrc uri="$channel" timeout=30000 device=cuda:0 ! $name \
            ! video/x-raw ! filesink location="$work/copy"
        status_of "$started"
        cat "$work/pipeline"
        cmp "$work/file" "$work/copy"
        port=$((port + 8))
    done
}

# From one channel to another by CUDA's memory. Rows of 33 pixels have gaps in GStreamer, and in what is published.
test_gstreamer_device_sink() {
    local each first seen pipeline
    make_driver
    for each in 64x48xnv12=4608 33x17xrgb24=1683 40x24xyuv444p=2880; do
        publish_pictures "$each"
        first=$channel
        port=$((port + 8))
        serve
        start seen "$follower" --wait-ms 30000 "$channel|host-group=auto"
        seen=$started
        start pipeline launch framecastsrc uri="$channel" timeout=30000 ! filesink location="$work/copy"
        pipeline=$started
        LD_LIBRARY_PATH=$work/driver start relay launch framecastsrc uri="$first" timeout=30000 device=cuda:0 \
            ! 'video/x-raw(memory:CUDAMemory)' ! framecastsink uri="$channel" wait-subscribers=2 sync=false
        status_of "$started"
        status_of "$seen"
        status_of "$pipeline"
        cat "$work/relay" "$work/seen" "$work/pipeline"
        kill -9 "$server"
        grep -q "^frame 0: $video" "$work/seen"
        if grep CUDA "$work/seen"; then
            return 1
        fi
        /usr/bin/python3 - "$work/file" "$work/copy" "$video" <<'END'
import sys
packed, copy = (open(path, "rb").read() for path in sys.argv[1:3])
if sys.argv[3] == "33x17xrgb24":
    copy = b"".join(copy[at : at + 99] for at in range(0, len(copy), 100))
sys.exit(packed != copy)
END
        port=$((port + 8))
    done
}

# Errors of devices come in one line, also of elements that were built without CUDA.
test_gstreamer_device_errors() {
    local without=$work/without
    make -s -C "$here/gstreamer" WITH_CUDA=no BUILD="$without"
    one_line_of_device 'device: expected cuda:N, such as cuda:0, host' "$here/gstreamer/build" gpu0
    one_line_of_device 'device=cuda:1: these elements were built without CUDA; install libgstreamer-plugins-bad1.0-dev' \
        "$without" cuda:1
    if [ "$cuda" = yes ] && [ "$(uname -m)" = x86_64 ]; then
        make_driver
        one_line_of_device 'cuda:7: this process sees no such GPU' "$here/gstreamer/build" cuda:7
        FRAMECAST_STUB_INIT=100 one_line_of_device 'cuda:0: GStreamer finds no CUDA driver here' "$here/gstreamer/build" cuda:0
    fi
}

one_line_of_device() {
    if LD_LIBRARY_PATH=$work/driver:$here/c/build GST_PLUGIN_PATH=$2 GST_REGISTRY=$work/registry-of-${2##*/} \
        "$here/gstreamer/build/test/run" framecastsrc uri='framecast:udp?group=224.20.30.77:1' device="$3" ! fakesink \
        >"$work/line" 2>&1; then
        return 1
    fi
    cat "$work/line"
    [ "$(grep -c "^error of framecastsrc.*: $1" "$work/line")" = 1 ]
}

if [ -n "$only" ]; then
    make -s -C "$here/c" test-programs
fi

# Publishing: `framecast serve --publish`, clients that publish, and subscribers in Java.
producer=$here/c/build/publish

# Starts the server of a new channel; sets `server`.
serve() {
    [ $# -gt 0 ] || new_channel
    start server "$tool" serve --publish "$channel"
    server=$started
    await server 'publishes for clients'
}

# Starts a subscriber in Java under this name; sets `started`.
receive() {
    local name=$1
    shift
    start "$name" "$tool" subscribe "$channel" --device host --json - "$@"
}

test_publish() {
    serve
    receive near
    local near=$started
    receive lossy --loss 0.01 --seed 7
    local lossy=$started
    start one "$follower" --wait-ms 30000 "$channel|host-group=auto"
    local one=$started
    head -c 30000017 /dev/urandom >"$work/input"
    start program "$producer" --input "$work/input" --bytes 70000 --metadata hello --wait-subscribers 3 "$channel"
    status_of "$started"
    status_of "$near"
    status_of "$lossy"
    status_of "$one"
    same_crc program near lossy one
    grep -q '^frames 429 bytes 30000017 .*: end of stream' "$work/program"
    grep -q '^frames 429 bytes 30000017 .* lost 0 sessions 1 .*: end of stream' "$work/one"
    # The next one, by copies, on the same channel.
    receive next
    local next=$started
    start program "$producer" --frames 20000 --bytes 64 --copy "$channel"
    status_of "$started"
    status_of "$next"
    same_crc program next
    grep -q 'ended its stream after 20000 frames' "$work/server"
    echo "figures: $(grep -o 'repaired_datagrams": [0-9]*' "$work/lossy" | grep -o '[0-9]*$') datagrams of 30 MB repaired"
}

# Another host, as far as the kernel is concerned: `$channel.1` is this end, `$channel.2` the other one, in the namespace
# $space, with this host's interface $link.
new_host() {
    space=framecast-$$
    link=fc$$
    # shellcheck disable=SC2064 # The name is gone when the trap runs.
    trap "kill_children; ip link delete $link || :; ip netns delete $space || :" EXIT
    ip netns add "$space"
    ip link add "$link" type veth peer name "fd$$" netns "$space"
    ip address add 10.77.0.1/24 dev "$link"
    ip link set "$link" up
    ip -n "$space" address add 10.77.0.2/24 dev "fd$$"
    ip -n "$space" link set "fd$$" up
    ip -n "$space" link set lo up
    channel="framecast:udp?group=224.20.30.77:$port|channel=clients|interface=10.77.0"
}

test_publish_to_another_namespace() {
    new_host
    start server "$tool" serve --publish "$channel.1"
    await server 'publishes for clients'
    start far ip netns exec "$space" "$tool" subscribe "$channel.2" --device host --json - --loss 0.01
    local far=$started
    start program "$producer" --frames 1000 --bytes 50000 "$channel.1"
    status_of "$started" || { cat "$work/program" "$work/server" "$work/far"; return 1; }
    status_of "$far"
    same_crc program far
}

# Follows in the other namespace, from a keyframe on: what came, and what it decodes to.
watch_far() {
    start "$1" ip netns exec "$space" gst-launch-1.0 -q framecastsrc uri="$channel.2|host-group=auto|join=keyframe" timeout=30000 \
        ! tee name=both ! queue ! filesink location="$work/$1.h264" both. ! queue ! avdec_h264 ! filesink location="$work/$1.yuv"
}

# The end of the first file is the second one, which is no shorter than so many bytes.
ends_with() {
    local bytes
    bytes=$(wc -c <"$2")
    [ "$bytes" -ge "$3" ] && tail -c "$bytes" "$1" | cmp - "$2"
}

# H.264 reaches another host with 1 % loss, where pipelines that come at once and later decode the same pictures.
test_gstreamer_h264() {
    local pictures=300 picture=115200
    new_host
    start server "$tool" serve --publish "$channel.1"
    await server 'publishes for clients'
    start leader ip netns exec "$space" "$tool" subscribe "$channel.2|host-group=auto" --device host --json - --loss 0.01 --seed 7
    local leader=$started
    await leader 'host group: leads'
    watch_far first
    local first=$started
    # In real time: sync=true.
    start sender timeout 60 gst-launch-1.0 -q videotestsrc pattern=snow num-buffers=$pictures \
        ! video/x-raw,format=I420,width=320,height=240,framerate=30/1 ! x264enc key-int-max=30 bframes=2 speed-preset=ultrafast bitrate=8000 \
        ! video/x-h264,stream-format=byte-stream,profile=main ! tee name=all ! queue ! framecastsink uri="$channel.1" \
        all. ! queue ! filesink location="$work/sent.h264" all. ! queue ! avdec_h264 ! filesink location="$work/sent.yuv"
    local sender=$started
    await server 'publishes$'
    sleep 4
    watch_far late
    local late=$started
    status_of "$sender"
    status_of "$first"
    status_of "$late"
    status_of "$leader"
    cat "$work/sender" "$work/first" "$work/late" "$work/leader"
    [ ! -s "$work/first" ] && [ ! -s "$work/late" ]
    cmp "$work/sent.h264" "$work/first.h264"
    cmp "$work/sent.yuv" "$work/first.yuv"
    [ "$(wc -c <"$work/first.yuv")" = $((pictures * picture)) ]
    ends_with "$work/sent.h264" "$work/late.h264" 1000
    ends_with "$work/sent.yuv" "$work/late.yuv" $((30 * picture))
    [ "$(wc -c <"$work/late.yuv")" -lt $((pictures * picture)) ]
    if command -v ffmpeg >/dev/null; then
        # Each error is a line.
        ffmpeg -hide_banner -v error -i "$work/late.h264" -f null - >"$work/ffmpeg" 2>&1
        cat "$work/ffmpeg"
        [ ! -s "$work/ffmpeg" ]
    fi
    local repaired
    repaired=$(grep -o 'repaired_datagrams": [0-9]*' "$work/leader" | grep -o '[0-9]*$')
    [ "$repaired" -gt 0 ]
    echo "figures: $pictures pictures, of which the late one decodes $(($(wc -c <"$work/late.yuv") / picture)); $repaired datagrams repaired"
}

# As above, by Python; every byte arrives.
test_python_publishes_to_another_namespace() {
    new_host
    start server "$tool" serve --publish "$channel.1"
    await server 'publishes for clients'
    start far ip netns exec "$space" "$tool" subscribe "$channel.2" --device host --json - --loss 0.01 --out "$work/copy"
    local far=$started
    head -c 30000000 /dev/urandom >"$work/input"
    cat >"$work/program.py" <<'END'
import sys, framecast
with open(sys.argv[2], "rb") as file, framecast.publish(sys.argv[1], format="200x100xrgb24,rate=25") as out:
    while picture := file.read(60000):
        out.send(picture, keyframe=True)
END
    PYTHONPATH=$here/python start program /usr/bin/python3 -B "$work/program.py" "$channel.1" "$work/input"
    status_of "$started" || { cat "$work/program" "$work/server" "$work/far"; return 1; }
    status_of "$far"
    cmp "$work/input" "$work/copy"
    grep -q '"text": *"200x100xrgb24, uint8\[100x200x3\], 25/s"' "$work/far"
    local repaired
    repaired=$(grep -o 'repaired_datagrams": [0-9]*' "$work/far" | grep -o '[0-9]*$')
    [ "$repaired" -gt 0 ]
    echo "figures: 30 MB equal, $repaired datagrams repaired"
}

# Follows: a line for each frame with its time, at last the checksum or the error. With `hold` it holds twenty frames, and
# reads no more.
follow_program() {
    cat >"$work/follow.py" <<'END'
import hashlib, sys, time, framecast
digest, frames, held = hashlib.sha256(), 0, []
try:
    with framecast.subscribe(sys.argv[1], leader_wait=float(sys.argv[2])) as stream:
        print("connected", flush=True)
        for frame in stream:
            digest.update(frame.view())
            frames += 1
            print("frame", frame.number, time.monotonic_ns(), flush=True)
            if sys.argv[3:] == ["hold"]:
                held.append(frame)
                if frames == 20:
                    time.sleep(600)
        print("frames", frames, "lost", stream.stats().lost.total, "leaders", stream.stats().leaders, "sha256", digest.hexdigest())
except framecast.FramecastError as e:
    print(f"{type(e).__name__}: {e}")
    sys.exit(3)
END
    export PYTHONPATH=$here/python
}

frames_of() {
    grep -c '^frame ' "$work/$1" || :
}

# Three programs in Python follow a Java subscriber, and another host publishes so many frames a second; with `hold` a fourth
# program holds frames and reads no more.
share_on_one_host() {
    follow_program
    new_host
    start leader "$tool" subscribe "$channel.1|host-group=auto" --device host --json - --out "$work/copy"
    leader=$started
    await leader 'host group: leads'
    local name
    for name in one two three; do
        start "$name" /usr/bin/python3 -B "$work/follow.py" "$channel.1" 30
        eval "$name=\$started"
        await "$name" connected
    done
    if [ "${2:-}" = hold ]; then
        start holder /usr/bin/python3 -B "$work/follow.py" "$channel.1" 30 hold
        holder=$started
        await holder connected
    fi
    start publisher ip netns exec "$space" "$tool" publish "$channel.2" --input test --video 640x480xnv12 --frames 400 \
        --rate "$1" --json - --wait-subscribers 1
    publisher=$started
}

all_have_the_stream() {
    status_of "$publisher"
    status_of "$leader"
    local process
    for process in "$one" "$two" "$three"; do
        status_of "$process"
    done
    local expected
    expected="frames 400 lost 0 leaders 1 sha256 $(sha256sum <"$work/copy" | cut -d ' ' -f 1)"
    local name
    for name in one two three; do
        grep -qx "$expected" "$work/$name" || { tail -n 1 "$work/$name"; echo "expected $expected"; return 1; }
    done
}

# Of four subscribers on this host the leader alone reads the stream from sockets.
test_one_stream_for_one_host() {
    local before after
    share_on_one_host 60
    before=$(cat "/sys/class/net/$link/statistics/rx_bytes")
    await one '^frame 10 '
    # The leader has sockets of the internet, the followers have none.
    /usr/bin/python3 - "$leader" "$one" "$two" "$three" <<'END'
import os, sys
inodes = set()
for table in ("udp", "udp6", "tcp", "tcp6"):
    if os.path.exists(f"/proc/net/{table}"):
        with open(f"/proc/net/{table}") as lines:
            inodes |= {f"socket:[{line.split()[9]}]" for line in list(lines)[1:]}

def is_of_the_internet(path):
    try:
        return os.readlink(path) in inodes
    except FileNotFoundError:
        return False

counts = [sum(is_of_the_internet(f"/proc/{p}/fd/{d}") for d in os.listdir(f"/proc/{p}/fd")) for p in sys.argv[1:]]
if counts[0] == 0 or any(counts[1:]):
    sys.exit(f"expected sockets of the leader alone, got {counts}")
END
    all_have_the_stream
    after=$(cat "/sys/class/net/$link/statistics/rx_bytes")
    local bytes=$((640 * 480 * 3 / 2 * 400))
    cat "$work/leader"
    [ "$((after - before))" -lt "$((bytes * 5 / 4))" ]
    echo "figures: $(((after - before) * 100 / bytes)) bytes came to the host for each 100 of the stream, followers have no socket"
}

# A program that reads no more until the source stands is killed: the others go on, and miss no frame.
test_killed_with_frames_held() {
    share_on_one_host 0 hold
    await holder '^frame 3 '
    local count=-1
    local now=0
    while [ "$now" != "$count" ]; do
        count=$now
        sleep 1
        now=$(frames_of one)
    done
    [ "$count" -gt 0 ] && [ "$count" -lt 400 ] || { echo "the source did not stand: $count frames"; return 1; }
    local killed
    killed=$(/usr/bin/python3 -c "import os, time; now = time.monotonic_ns(); os.kill($holder, 9); print(now)")
    all_have_the_stream
    local next
    next=$(awk -v killed="$killed" '$1 == "frame" && $3 > killed { print $3; exit }' "$work/one")
    local ms=$(((next - killed) / 1000000))
    [ "$ms" -lt 1000 ]
    echo "figures: another follower's next frame $ms ms after the kill; $count frames were held"
}

# A host with an interface that is no loopback, whose slots are short: frames that are held leave less room.
new_interface() {
    space=framecast-$$
    # shellcheck disable=SC2064 # The name is gone when the trap runs.
    trap "kill_children; ip netns delete $space || :" EXIT
    ip netns add "$space"
    ip -n "$space" link add eth0 type veth peer name eth1
    ip -n "$space" address add 10.79.0.1/24 dev eth0
    ip -n "$space" link set eth0 up
    ip -n "$space" link set eth1 up
    ip -n "$space" link set lo up
    ip -n "$space" route add 224.0.0.0/4 dev eth0
}

# The page's program, by the page's commands: it holds a frame while the next one is due.
test_page_on_an_interface() {
    new_interface
    block_of python.md python 1 >"$work/program.py"
    export PYTHONPATH=$here/python
    start publisher ip netns exec "$space" "$tool" publish \
        'framecast:udp?group=224.20.30.39:24326|channel=cam1|host-group=auto' --input test --frames 100
    local publisher=$started
    start program ip netns exec "$space" /usr/bin/python3 -B "$work/program.py" 'framecast:udp?group=224.20.30.39:24326|channel=cam1'
    status_of "$started" || { tail -n 2 "$work/program" "$work/publisher"; return 1; }
    status_of "$publisher"
    tail -n 1 "$work/program"
    [ "$(wc -l <"$work/program")" = 100 ]
    ! grep 'copies them' "$work/publisher"
}

# A list of all frames is what a program may hold, too; a subscriber that reads elsewhere has them all.
test_list_of_frames() {
    new_interface
    local uri='framecast:udp?group=224.20.30.39:24326|channel=cam1'
    export PYTHONPATH=$here/python
    start other ip netns exec "$space" "$tool" subscribe "$uri" --device host --json -
    local other=$started
    start program ip netns exec "$space" /usr/bin/python3 -B -c "
import sys, zlib, framecast
with framecast.subscribe(sys.argv[1]) as stream:
    frames = list(stream)
crc = 0
print('frames', len(frames), 'sums', len({zlib.crc32(frame.view()) for frame in frames}))" "$uri"
    local program=$started
    start publisher ip netns exec "$space" "$tool" publish "$uri|host-group=auto" --input test --video 640x480xrgb24 --frames 100 \
        --rate 20 --wait-subscribers 2
    local publisher=$started
    await publisher 'keeps more frames than the window has room for'
    "$tool" stat "$publisher" >"$work/stat" || :
    status_of "$program"
    status_of "$publisher"
    status_of "$other"
    cat "$work/program" "$work/publisher" "$work/stat"
    grep -qx 'frames 100 sums 100' "$work/program"
    grep -q '"frames": *100' "$work/other"
    grep -q "to process $program on this host (delivery=reliable): .* held the publisher back for .* frames held, .* copied" "$work/stat"
}

# has_all NAME FRAMES: a subscriber that prints JSON has so many frames.
has_all() {
    grep -q "\"frames\": *$2," "$work/$1" || { cat "$work/$1"; return 1; }
}

# Pipelines that hold frames, each beside a subscriber that gets datagrams, which misses none.
test_gstreamer_holds() {
    new_interface
    local uri='framecast:udp?group=224.20.30.39:24326|channel=cam1' pipeline video publisher other
    while read -r video pipeline <&3; do
        start other ip netns exec "$space" "$tool" subscribe "$uri" --device host --json -
        other=$started
        # shellcheck disable=SC2086 # A list of words.
        start pipeline ip netns exec "$space" gst-launch-1.0 -q framecastsrc uri="$uri" timeout=30000 $pipeline
        local launched=$started
        start publisher ip netns exec "$space" "$tool" publish "$uri|host-group=auto" --input test --video "$video" \
            --frames 100 --rate 60 --format rate=60 --wait-subscribers 2
        publisher=$started
        status_of "$launched" || { cat "$work/pipeline" "$work/publisher"; return 1; }
        status_of "$publisher"
        status_of "$other"
        cat "$work/pipeline"
        echo "$pipeline"
        has_all other 100
    done 3<<'END'
1920x1080xnv12 ! fakesink
1920x1080xrgb24 ! videoconvert ! video/x-raw,format=I420 ! fakesink sync=true
640x480xnv12 ! queue max-size-buffers=200 max-size-bytes=0 max-size-time=0 ! identity sleep-time=25000 ! fakesink
640x480xnv12 ! tee name=all ! queue ! fakesink all. ! queue ! videoconvert ! fakesink sync=true
END
}

# The page's recording beside a subscriber on another host, for FRAMECAST_TEST_RECORD seconds, 30 unless set, of pictures for
# which an encoder needs no more than a core.
test_gstreamer_records() {
    new_host
    local frames=$((30 * ${FRAMECAST_TEST_RECORD:-30})) begin
    start other ip netns exec "$space" "$tool" subscribe "$channel.2" --device host --json -
    local other=$started
    start pipeline gst-launch-1.0 -q framecastsrc uri="$channel.1" timeout=30000 ! videoconvert ! x264enc ! mp4mux \
        ! filesink location="$work/cam1.mp4"
    local pipeline=$started
    start publisher "$tool" publish "$channel.1|host-group=auto" --input test --video "${FRAMECAST_TEST_RECORD_VIDEO:-320x240xnv12}" \
        --rate 30 --format rate=30 --frames "$frames" --wait-subscribers 2
    local publisher=$started
    begin=$(date +%s%N)
    wait "$publisher"
    local ms=$((($(date +%s%N) - begin) / 1000000))
    wait "$other"
    wait "$pipeline"
    cat "$work/pipeline" "$work/publisher"
    has_all other "$frames"
    if command -v ffprobe >/dev/null; then
        [ "$(ffprobe -v error -count_packets -select_streams v:0 -show_entries stream=nb_read_packets -of csv=p=0 "$work/cam1.mp4")" \
            = "$frames" ]
    fi
    echo "figures: $frames frames in $ms ms"
}

test_python_publishes() {
    cd "$here/python/tests"
    FRAMECAST_TOOL=$tool FRAMECAST_TEST_PORT=$port "$1" -B -m unittest -v test_publish
    echo "figures: $("$1" --version), NumPy $(version_of "$1" numpy), PyTorch $(version_of "$1" torch)"
}

# Ctrl-C at random moments: 300 in .ci/run, 10 000 else.
test_interrupts() {
    cd "$here/python/tests"
    local number=10000
    ! is_few || number=300
    FRAMECAST_TOOL=$tool FRAMECAST_TEST_PORT=$port FRAMECAST_TEST_INTERRUPTS=${FRAMECAST_TEST_INTERRUPTS:-$number} \
        "$1" -B -m unittest -v test_interrupts 2>&1 | tee "$work/interrupts"
    echo "figures: $(grep -o "[0-9]* interrupts of [^(]*" "$work/interrupts" | tr '\n' ';')"
}

# The first block of a language behind "## Publishing" in a page.
publishing_block_of() {
    awk -v language="\`\`\`$2" '
        $0 == "## Publishing" { found = 1 }
        $0 == "```" { if (inside) exit }
        inside { print }
        found && $0 == language { inside = 1 }' "$project/docs/$1"
}

# The programs of the pages publish 20 frames, to a subscriber in Java and one in C.
test_pages_publish() {
    publishing_block_of c.md c >"$work/publish_page.c"
    cc -Wall -Wextra -Werror -I"$here/c/include" "$work/publish_page.c" -L"$here/c/build" -lframecast \
        -Wl,-rpath,"$here/c/build" -o "$work/publish_page"
    publishing_block_of python.md python >"$work/publish_page.py"
    export PYTHONPATH=$here/python
    serve
    local program
    for program in "$work/publish_page" "/usr/bin/python3 -B $work/publish_page.py"; do
        receive java
        local java=$started
        # shellcheck disable=SC2086 # A command and its arguments.
        $program "$channel"
        status_of "$java"
        cat "$work/java"
        grep -q '"frames": 20' "$work/java"
    done
    grep -q '"format"' "$work/java"
}

test_publisher_is_killed() {
    serve
    receive one
    local one=$started
    start program "$producer" --frames 1000000 --bytes 5000 --delay-us 1000 "$channel"
    await server 'publishes$'
    sleep 5
    kill -9 "$started"
    local status=0
    status_of "$one" || status=$?
    cat "$work/one" "$work/server"
    [ "$status" != 0 ]
    grep -q -i 'source.* lost\|lost.* source\|without an end' "$work/one"
    grep -q 'is gone after [1-9][0-9]* frames' "$work/server"
    receive two
    local two=$started
    start program "$producer" --frames 300 --bytes 5000 "$channel"
    status_of "$started"
    status_of "$two"
    same_crc program two
}

test_two_publishers() {
    serve
    receive one
    local one=$started
    start program "$producer" --frames 3000 --bytes 5000 --delay-us 1000 "$channel"
    local program=$started
    await server 'publishes$'
    local status=0
    "$producer" --frames 10 --bytes 5000 --wait-ms 200 "$channel" >"$work/second" 2>&1 || status=$?
    cat "$work/second"
    [ "$status" = 2 ] && [ "$(wc -l <"$work/second")" = 1 ]
    grep -q "^publish: publisher: another client publishes on clients by process $server; end it" "$work/second"
    status_of "$program"
    status_of "$one"
    same_crc program one
}

test_server_is_killed() {
    serve
    receive one
    start program "$producer" --frames 1000000 --bytes 5000 --delay-us 1000 "$channel"
    local program=$started
    await server 'publishes$'
    sleep 4
    kill -9 "$server"
    local status=0
    status_of "$program" || status=$?
    cat "$work/program"
    [ "$status" = 3 ]
    grep -q 'is gone; start `framecast serve --publish URI` again' "$work/program"
}

# A server joins each stream of programs that end theirs at once.
test_short_streams() {
    serve
    start joins "$tool" serve "$channel"
    local joins=$started
    await joins 'waits for a source'
    for _ in 1 2 3 4 5; do
        start program "$producer" --frames 3 --bytes 1000 --wait-subscribers 1 "$channel"
        status_of "$started"
    done
    kill -0 "$joins"
    cat "$work/joins"
    [ "$(grep -c ': end of stream$' "$work/joins")" -ge 4 ]
}

# Clients follow a server that is killed. Those that wait long enough go on with the next one.
test_serve_is_killed() {
    new_channel
    follow_program
    start server "$tool" serve "$channel"
    local server=$started
    await server 'waits for a source'
    start short "$follower" --wait-ms 1500 "$channel"
    local short=$started
    start long "$follower" --wait-ms 30000 "$channel"
    local long=$started
    start python_short python3 -B "$work/follow.py" "$channel" 1.5
    local python_short=$started
    start python_long python3 -B "$work/follow.py" "$channel" 30
    local python_long=$started
    await python_short connected
    await python_long connected
    start publisher "$tool" publish "$channel" --input test --video 64x48xgray --frames 3000 --rate 200 --rejoin 1m \
        --wait-subscribers 1
    local publisher=$started
    await python_long '^frame 200 '
    kill -9 "$server"
    local status=0
    status_of "$short" || status=$?
    cat "$work/short"
    [ "$status" = 3 ]
    local line='host group: the leader is gone, and no other one came within 1500 ms; start `framecast serve URI`, or a subscriber'
    [ "$(grep -v -e '^frame' "$work/short" | wc -l)" = 1 ]
    grep -q "^subscribe: $line" "$work/short"
    status=0
    status_of "$python_short" || status=$?
    [ "$status" = 3 ]
    tail -n 1 "$work/python_short" | grep "^LeaderGone: $line"
    start server "$tool" serve "$channel"
    status_of "$publisher"
    status_of "$long"
    status_of "$python_long"
    tail -n 2 "$work/long" "$work/python_long"
    grep -q '^frames [0-9]* .* sessions [12] leaders 2: end of stream' "$work/long"
    grep -q '^frames [0-9]* lost [0-9]* leaders 2 ' "$work/python_long"
    grep -q '^frame 2999 ' "$work/python_long"
}

# A follower of another layout of the segment, and one too many.
test_serve_refuses() {
    new_channel
    start server "$tool" serve "$channel"
    local server=$started
    await server 'waits for a source'
    mkdir -p "$work/foreign"
    cp -r "$here/c/Makefile" "$here/c/src" "$here/c/include" "$here/c/examples" "$here/c/libframecast.map" \
        "$here/c/framecast.pc.in" "$work/foreign"
    sed -i 's/^#define FC_LAYOUT_VERSION .*/#define FC_LAYOUT_VERSION INT64_C(99)/' "$work/foreign/src/segment_layout.h"
    make -s -C "$work/foreign" build/subscribe
    local status=0
    "$work/foreign/build/subscribe" --wait-ms 5000 "$channel" >"$work/one" 2>"$work/line" || status=$?
    cat "$work/one" "$work/line" "$work/server"
    [ "$status" = 2 ] && [ "$(wc -l <"$work/line")" = 1 ]
    local version
    version=$(sed -n 's/^#define FC_LAYOUT_VERSION INT64_C(\([0-9]*\))/\1/p' "$here/c/src/segment_layout.h")
    grep -q "^subscribe: host group: this program speaks layout 99 of the host segment, the leader (process $server) layout $version;" \
        "$work/line"
    grep -q "speaks layout 99 of the host segment, this one layout $version; run both from the same release" "$work/server"
    # The server is its first member; 63 others follow.
    local followers=()
    for ((i = 0; i < 63; i++)); do
        start "member$i" "$follower" --wait-ms 5000 "$channel"
        followers+=("$started")
    done
    sleep 2
    status=0
    "$follower" --wait-ms 5000 "$channel" >"$work/one" 2>"$work/line" || status=$?
    cat "$work/one" "$work/line"
    [ "$status" = 2 ] && [ "$(wc -l <"$work/line")" = 1 ]
    grep -q "^subscribe: host group: the leader (process $server) has no place left: it has 64 members; end one" "$work/line"
    # With one less there is room again.
    kill -9 "${followers[7]}"
    start publisher "$tool" publish "$channel" --input test --video 64x48xgray --frames 50 --wait-subscribers 1
    "$follower" --wait-ms 5000 "$channel" >"$work/one" 2>&1
    status_of "$started"
    cat "$work/one"
    grep -q '^frames [1-9].*: end of stream' "$work/one"
}

test_no_server() {
    new_channel
    local status=0
    "$producer" --frames 10 --wait-ms 100 "$channel" >"$work/program" 2>&1 || status=$?
    cat "$work/program"
    [ "$status" = 2 ]
    grep -q 'no process publishes for clients of clients on this host; start `framecast serve --publish URI`' "$work/program"
}

# A case that runs alone needs it too.
make -s -C "$here/c"
check 'libframecast' make -s -C "$here/c" check
check 'libframecast under sanitizers' make -s -C "$here/c" check SANITIZE=1
if command -v pkg-config >/dev/null; then
    check 'make install' test_install
else
    lacks 'make install' 'no pkg-config'
fi
# Debian's, for its NumPy and PyTorch, and another one that is in front of it.
pythons=$(for each in /usr/bin/python3 "$(command -v python3 || :)"; do
    if [ -x "$each" ]; then readlink -f -- "$each"; fi
done | sort -u)
for python in $pythons; do
    check 'Python' test_python "$python"
done
[ -n "$pythons" ] || lacks 'Python' 'no python3'
if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    check 'the programs of docs/c.md and docs/python.md' test_pages
else
    lacks 'the programs of the pages' 'no NumPy: apt install python3-numpy'
fi

gstreamer=no
if command -v gst-launch-1.0 >/dev/null && pkg-config --exists gstreamer-video-1.0 gstreamer-audio-1.0; then
    gstreamer=yes
    export GST_PLUGIN_PATH=$here/gstreamer/build GST_REGISTRY=$work/gstreamer
    make -s -C "$here/gstreamer"
    check 'gstreamer: build' make -s -C "$here/gstreamer" test-programs
    check 'gstreamer: caps of each format' test_gstreamer_caps
    check 'gstreamer: pipelines start and stop' test_gstreamer_stops
    check 'gstreamer: errors' test_gstreamer_errors
    cuda=no
    [ ! -e "$here/gstreamer/build/cuda-yes" ] || cuda=yes
    check 'gstreamer: CUDA: errors' test_gstreamer_device_errors
else
    lacks 'GStreamer' 'apt install libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev gstreamer1.0-plugins-base gstreamer1.0-tools'
fi

if "$tool" --version >"$work/version" 2>&1; then
    check 'a publisher of this host' test_publisher
    check 'a publisher of this host, Python' test_python_publisher
    if [ "$(uname -m)" = x86_64 ]; then
        check 'device memory of another process' test_device
    else
        lacks 'device memory' 'the stub of the driver is for x86-64'
    fi
    if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
        check 'formats' test_formats
        if /usr/bin/python3 -c 'import torch' 2>/dev/null; then
            check 'a camera to PyTorch' test_classify
        else
            lacks 'a camera to PyTorch' 'no PyTorch: apt install python3-torch'
        fi
        if command -v g++ >/dev/null; then
            check 'samples' test_samples
        else
            lacks 'the samples' 'no C++ compiler: apt install g++'
        fi
    else
        lacks 'formats and samples' 'no NumPy: apt install python3-numpy'
    fi
    if [ "$gstreamer" = yes ]; then
        check 'gstreamer: a file through a pipeline' test_gstreamer_file
        check 'gstreamer: sink: a file through two pipelines' test_gstreamer_sink_file
        check 'gstreamer: sink: caps in mid-stream' test_gstreamer_sink_caps
        check 'gstreamer: sink: pipelines start and stop' test_gstreamer_sink_stops
        check 'gstreamer: sink: rows with gaps' test_gstreamer_sink_planes
        check 'gstreamer: sink: pixel formats' test_gstreamer_pixels
        check 'gstreamer: sink: from channel to channel' test_gstreamer_relay
        check 'gstreamer: sink: seeks' test_gstreamer_sink_seeks
        check 'gstreamer: sink: a full ring' test_gstreamer_sink_full
        check 'gstreamer: sink: errors' test_gstreamer_sink_errors
        check 'gstreamer: the sample' test_gstreamer_sample
        if [ "$cuda" = no ]; then
            lacks 'CUDA memory in GStreamer' 'apt install libgstreamer-plugins-bad1.0-dev'
        elif [ "$(uname -m)" != x86_64 ]; then
            lacks 'CUDA memory in GStreamer' 'the stub of the driver is for x86-64'
        else
            check 'gstreamer: CUDA: pictures in its memory' test_gstreamer_device
            check 'gstreamer: CUDA: pipelines start and stop' test_gstreamer_device_stops
            check 'gstreamer: CUDA: sink' test_gstreamer_device_sink
            if [ -e "$(pkg-config --variable=pluginsdir gstreamer-1.0)/libgstnvcodec.so" ]; then
                check 'gstreamer: CUDA: cudadownload' test_gstreamer_download
            else
                lacks 'cudadownload' 'apt install gstreamer1.0-plugins-bad'
            fi
        fi
    fi
    check 'the leader is killed' test_leader_is_killed
    check 'the leader of a protected stream is killed' test_protected
    check 'the leader and the source are killed' test_leader_and_source_are_killed
    check 'the leader stands still' test_leader_stands_still
    check 'a follower is killed' test_follower_is_killed
    check 'latest' test_latest
    check 'the source is lost' test_source_is_lost
    check 'the next publisher' test_next_publisher
    check 'no successor' test_no_successor
    check 'no process leads' test_nobody_leads
    check 'a C program publishes' test_publish
    check 'a C program publishes a protected stream' test_publish_protected
    if [ "$(id -u)" = 0 ] && ip netns add "framecast-$$" 2>/dev/null && ip netns delete "framecast-$$"; then
        check 'a C program publishes to another network namespace' test_publish_to_another_namespace
        if [ "$gstreamer" = yes ] && gst-inspect-1.0 --exists x264enc && gst-inspect-1.0 --exists avdec_h264; then
            check 'gstreamer: sink: H.264 with loss' test_gstreamer_h264
        else
            lacks 'H.264' 'apt install gstreamer1.0-plugins-ugly gstreamer1.0-libav'
        fi
        check 'a Python program publishes to another network namespace' test_python_publishes_to_another_namespace
        check 'three Python programs and a Java one share a stream' test_one_stream_for_one_host
        check 'a Python program is killed with frames held' test_killed_with_frames_held
        if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
            check 'the program of docs/python.md on a network interface' test_page_on_an_interface
        else
            lacks 'the program of docs/python.md on a network interface' 'no NumPy: apt install python3-numpy'
        fi
        check 'a Python program holds all frames' test_list_of_frames
        if [ "$gstreamer" = yes ]; then
            check 'gstreamer: pipelines that hold frames' test_gstreamer_holds
            if gst-inspect-1.0 --exists x264enc && gst-inspect-1.0 --exists mp4mux; then
                check 'gstreamer: a recording' test_gstreamer_records
            else
                lacks 'gstreamer: a recording' 'apt install gstreamer1.0-plugins-good gstreamer1.0-plugins-ugly'
            fi
        fi
    else
        lacks 'another network namespace' 'it needs root and iproute2'
    fi
    for python in $pythons; do
        check 'a Python program publishes' test_python_publishes "$python"
    done
    [ -z "$pythons" ] || check 'interrupts of Python programs' test_interrupts "$(head -n 1 <<<"$pythons")"
    if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
        check 'the programs of docs/c.md and docs/python.md publish' test_pages_publish
    fi
    check 'a C program that publishes is killed' test_publisher_is_killed
    check 'two C programs publish' test_two_publishers
    check 'the server is killed' test_server_is_killed
    check 'no server' test_no_server
    check 'short streams in a row' test_short_streams
    check 'a server that joins is killed' test_serve_is_killed
    check 'a server refuses' test_serve_refuses
else
    lacks 'what needs the tool' "$(tail -n 1 "$work/version")"
fi

end_cases
