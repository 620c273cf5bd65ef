#!/usr/bin/env bash
# Every program, command and pipeline of the README and the pages, as it is written there: on the loopback, on a host's eth0,
# and between two hosts, which are network namespaces with an eth0 of MTU 1500. This stage adds the other end of a stream, the
# files that commands read, a camera, and Ctrl-C. A block that it neither runs nor lists below with a reason is a failure, and
# so is one that it names and no page has. Ends with "N passed, N failed".
# Limit: 900 s
#
#   CASES   pattern that a case's name must match to run, default *
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

STEP_SECONDS=20
root=$PWD
. .ci/netns.sh
. .ci/pages.sh
short_processes
# shellcheck disable=SC2034 # read by is_wanted
FEW=('every block has a case, or a reason' 'README: demo' 'C: a program, loopback' 'Python: a program, loopback'
    'Python: a program, eth0' 'Python: publishing, two hosts')

# What no case here runs, and why: a block, or a command in a sentence or a table.
# shellcheck disable=SC2034 # read by .ci/pages.py
LEFT='
README.md#in-your-project           stage 48-embed runs it, into a repository of its own
README.md#in-your-project/2         stage 48-embed makes a project of it
README.md#in-your-project/3         stage 48-embed makes a project of it
README.md#in-your-project/4         stage 48-embed runs it in that project
docs/architecture.md#modules        a figure
docs/c.md#frames-on-a-gpu           needs a GPU and its compiler
docs/chaos.md#chaos                 stage 80-chaos, for less time and with more patience
docs/chaos.md#over-verbs            needs RDMA devices: stage 90-rdma-lab
docs/fuzzing.md#running             stage 35-fuzz is the command
docs/gpu.md#sources-in-device-memory        a part of a program with a GPU
docs/gpu.md#device-side-arrival             a part of a program with a GPU
docs/gpu.md#device-side-arrival/2           a kernel for a GPU
docs/gstreamer.md#gpu-memory        needs a GPU with an encoder
docs/host-segment.md#frames-that-are-held   a figure
docs/memory.md#memory               a figure
docs/mutation.md#mutation-testing-of-the-protocol   takes hours
docs/protocol.md#sealed-control-datagrams   a layout
docs/python.md#frames-on-a-gpu      needs a GPU: clients/python/tests/gpu.py runs its like
docs/rdma.md#rdma                   needs RDMA devices: stage 90-rdma-lab
docs/rdma.md#its-cost               needs RDMA devices, and measures
docs/rdma.md#the-floor-in-c         needs RDMA devices, and measures
docs/rdma.md#the-floor-in-c/2       needs RDMA devices, and measures
`./mvnw -q install -DskipTests`     stage 48-embed, into a repository of its own
`./mvnw -Pchecks process-test-classes`      stage 12-checks
`./mvnw verify`                     stage 10-verify
`./mvnw verify -Pcampaign`          stage 25-campaign
`./mvnw -q spotless:apply`          writes sources; stage 12-checks finds what it would change
`./mvnw -Pmutation -pl reliability/simulator -am process-test-classes`      takes hours
`./mvnw -q -Pjmh -DskipTests -pl perf -am integration-test`     measures for minutes
`./framecast bench`                 measures for minutes
`./framecast bench isolation`       measures for minutes
`./framecast bench node`            measures for minutes
`./framecast bench throughput`      measures for minutes
`./framecast bench tail --seconds 15 --losing each,one --json tail.json`    measures for minutes
`./framecast chaos`                 stage 80-chaos, for less time and with more patience
`./framecast litmus`                stage 55-gpu-kit runs it in the kit
`./framecast simulate --seeds 1..2000 --receivers 16 --loss 0.05 --crashes`     stage 45-simulate, on other seeds
'

[ "$(id -u)" = 0 ] || skip 'network namespaces need root'
for tool in ip nsenter python3 cc make pkg-config; do
    command -v "$tool" >/dev/null || skip "$tool is missing"
done
/usr/bin/python3 -c 'import numpy' 2>/dev/null || skip 'no NumPy: apt install python3-numpy'

# What a reader has on the PATH: the tool, sudo, Debian's Python, which has NumPy, a JDK's java.
work=$(mktemp -d)
mkdir "$work/bin" "$work/camera"
ln -s "$root/framecast" "$work/bin/framecast"
ln -s /usr/bin/python3 "$work/bin/python3"
ln -s "${JAVA25_HOME:?'set JAVA25_HOME to a JDK 25'}/bin/java" "$work/bin/java"
printf '#!/bin/sh\nexec "$@"\n' >"$work/bin/sudo"
# Nothing is installed here: packages that a page names are those of 15-prepare.
printf '#!/bin/sh\n[ "$1" = install ] && shift && exec dpkg-query -W "$@"\n' >"$work/bin/apt"
# A camera: ffmpeg with another input.
cat >"$work/camera/ffmpeg" <<'END'
#!/bin/bash
words=" $* "
words=${words/ -f v4l2 -i \/dev\/video0 / -re -f lavfi -i testsrc2=size=1280x720:rate=30 }
# shellcheck disable=SC2086 # a list of words
exec "$(PATH=${PATH#*:} command -v ffmpeg)" $words
END
chmod +x "$work/bin/sudo" "$work/bin/apt" "$work/camera/ffmpeg"
export PATH=$work/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 GST_REGISTRY=$work/gstreamer
# A screen: autovideosink takes what has the highest rank.
export GST_PLUGIN_FEATURE_RANK=fakevideosink:MAX
timeout --kill-after=5 600 ./framecast --version >/dev/null
export FRAMECAST_BUILD=skip
make -s -C clients/c >/dev/null

# The loopback carries multicast by a route alone.
add_host lo
step ip -n "$id-lo" link set lo multicast on
step ip -n "$id-lo" route add 224.0.0.0/4 dev lo
add_host a
add_host b
join_hosts a b

# at PLACE: sets the host of the publisher and that of its subscribers.
at() {
    case $1 in
        loopback) near=lo far=lo ;;
        eth0) near=a far=a ;;
        'two hosts') near=a far=b ;;
    esac
}

# here TEXT: as the README says, between machines with another interface.
here() {
    [ "$near" = lo ] && printf %s "$1" || printf %s "${1//interface=127.0.0.1/interface=eth0}"
}

every_block() {
    "$pages" check .ci/stages/52-pages.sh
}

# --- README.md, CONTRIBUTING.md, SECURITY.md

demo() {
    start demo lo "$(text_of README.md#try-it 1)"
    ended demo
    "$pages" alike README.md#try-it "$desk/demo.log"
}

# java_program FILE: the statements on stdin, as a program.
java_program() {
    printf 'import io.framecast.api.*;\nimport io.framecast.api.format.*;\nimport java.lang.foreign.*;\nimport java.time.Duration;\n'
    printf 'import java.util.*;\nfinal class App {\npublic static void main(final String[] arguments) {\n'
    cat
    printf '}\nstatic void use(final Object type, final Object shape) {\nSystem.out.println("a tensor of " + type);\n}\n}\n'
}

JAVA="java @framecast.args -cp 'samples/target/framecast-samples.jar:samples/target/lib/*' App.java"

# readme_java PLACE BLOCK
readme_java() {
    at "$1"
    here "$("$pages" show "$2")" | java_program >"$reader/App.java"
    run "$near" "$JAVA"
}

command_line() {
    local block=README.md#from-the-command-line
    at "$1"
    start worker "$far" "$(here "$(text_of $block 1)")"
    start screen "$far" "$(here "$(text_of $block 2)")"
    start publisher "$near" "$(here "$(text_of $block 3)")"
    ended publisher
    ended worker
    ended screen
    has worker 'received 150 frames' 1
    head -c 20000001 /dev/urandom >"$reader/big.bin"
    start copy "$far" "$(here "$(text_of $block 4)")"
    start file "$near" "$(here "$(text_of $block 5)")"
    ended file
    ended copy
    cmp "$reader/big.bin" "$reader/copy.bin"
}

helps() {
    run lo './framecast help publish'
    grep -q -- '--wait-subscribers' "$desk/command.log"
    run lo './framecast help channel'
    start doctor lo './framecast doctor'
    ended doctor '*'
    [ -s "$desk/doctor.log" ]
}

two_demo_hosts() {
    run lo './framecast demo --hosts 2 --subscribers 4' 90
    grep -q verified "$desk/command.log"
}

simulate() {
    start simulate lo "$(text_of CONTRIBUTING.md#replaying-a-failure 1)"
    ended simulate 1
    "$pages" alike CONTRIBUTING.md#replaying-a-failure "$desk/simulate.log"
}

fast_tests() {
    reader=$root
    run lo "$(text_of CONTRIBUTING.md#fast-tests 1)" 240
}

# The page leaves out what is published.
keys() {
    local block=SECURITY.md#keys text
    at "$1"
    run "$near" "$(text_of $block 1)"
    text=$(text_of $block 3)
    start subscriber "$far" "${text/…/--device host}"
    text=$(text_of $block 2)
    start publisher "$near" "${text/…/--input test --video 64x48xrgb24 --frames 30}"
    ended publisher
    ended subscriber
    has subscriber 'received 30 frames' 1
}

# --- docs/c.md

c_build() {
    locked run lo "$(text_of docs/c.md#build 1)" 200
}

# c_program HOST: program.c becomes a program there, which has a /usr/local of its own.
c_program() {
    locked run "$1" "$(text_of docs/c.md#build 2)"
    run "$1" "$(text_of docs/c.md#build 3)"
}

# reads BLOCK TEXT: a page's publisher, and a program that follows it by a text.
reads() {
    if [ "$near" != "$far" ]; then
        start serve "$far" "./framecast serve 'framecast:udp?group=224.20.30.39:24326|channel=cam1'"
        await serve 'waits for a source'
    fi
    start publisher "$near" "$(text_of "$1" 1)"
    await publisher 'transport: '
    start program "$far" "$2"
    ended program
    ended publisher
    [ "$near" = "$far" ] || { interrupt serve && ended serve; }
}

# has_frames PATTERN [numbered]: the program has a line for each of 100 frames. Where a server lies between, that is a
# subscriber by itself: the stream may begin before the program has come, which gets all from then on.
has_frames() {
    local first
    if [ "$near" = "$far" ]; then
        has program "$1" 100
        return
    fi
    grep -- "$1" "$desk/program.log" | sed 's/[^0-9]*\([0-9]*\).*/\1/' >"$desk/numbers" || :
    first=$(head -n 1 "$desk/numbers")
    if [ "${2:-}" = numbered ]; then
        [ "${first:-100}" -lt 60 ] && seq "$first" 99 | cmp -s - "$desk/numbers" && return
    elif [ "$(wc -l <"$desk/numbers")" -gt 50 ]; then
        return
    fi
    printf 'frames %s: %s\n' "'$1'" "$(tr '\n' ' ' <"$desk/numbers")" && return 1
}

c_reads() {
    at "$1"
    "$pages" show docs/c.md#a-program >"$reader/program.c"
    c_program "$far"
    reads docs/c.md#a-program/2 "$(text_of docs/c.md#a-program/2 2)"
    has_frames '^frame [0-9]* begins with [0-9]*$' numbered
}

C_HEAD='#include <framecast.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
static void use(const fc_frame *frame) {
    printf("frame %llu\n", (unsigned long long)frame->number);
}
int main(int count, char **words) {
    fc_error error;'
C_OPEN='    fc_subscriber *camera;
    const fc_frame *frame;
    fc_status status;
    if (count != 2 || fc_subscribe(words[1], NULL, &camera, &error) != FC_OK) return 2;'
C_CLOSE='    fc_close(camera);
    return status == FC_END_OF_STREAM ? 0 : 3;
}'

c_polls() {
    at "$1"
    printf '%s\n' "$C_HEAD" "$C_OPEN" "$("$pages" show docs/c.md#an-event-loop)" "$C_CLOSE" >"$reader/program.c"
    c_program "$far"
    reads docs/c.md#a-program/2 "$(text_of docs/c.md#a-program/2 2)"
    has_frames '^frame [0-9]*$' numbered
}

c_formats() {
    at "$1"
    printf '%s\n' "$C_HEAD" "$C_OPEN" 'while ((status = fc_next(camera, -1, &frame, &error)) == FC_OK) {' 'use(frame);' \
        "$("$pages" show docs/c.md#frames)" 'fc_frame_release(frame);' '}' "$C_CLOSE" >"$reader/program.c"
    c_program "$far"
    reads docs/c.md#a-program/2 "$(text_of docs/c.md#a-program/2 2)"
    has_frames '^1920 x 1080 of rgb24$'
}

# publishes BLOCK TEXT FRAMES: the page's server and subscriber, and a program that publishes by a text.
publishes() {
    start serve "$near" "$(text_of "$1" 1)"
    start subscriber "$far" "$(text_of "$1" 2)"
    start program "$near" "$2"
    ended program
    ended subscriber
    has subscriber "^received $3 frames" 1
    interrupt serve
    ended serve
}

c_publishes() {
    at "$1"
    "$pages" show docs/c.md#publishing >"$reader/program.c"
    c_program "$near"
    publishes docs/c.md#publishing/2 "$(text_of docs/c.md#publishing/2 3)" 20
}

c_describes() {
    at "$1"
    printf '%s\n' "$C_HEAD" 'fc_status status;' 'fc_publisher *camera;' 'void *data;' \
        'if (count != 2 || fc_publish_open(words[1], NULL, &camera, &error) != FC_OK) return 2;' \
        "$("$pages" show docs/c.md#publishing/3)" \
        'if (status == FC_OK) status = fc_wait_ready(camera, 1, 30000, &error);' \
        'if (status == FC_OK) status = fc_claim(camera, 640 * 480 * 3, -1, &data, &error);' \
        'if (status == FC_OK) { memset(data, 1, 640 * 480 * 3); status = fc_commit(camera, NULL, &error); }' \
        'if (status == FC_OK) status = fc_publish_end(camera, -1, &error);' \
        'fc_publish_close(camera);' '(void)use;' 'return status == FC_OK ? 0 : 3;' '}' >"$reader/program.c"
    c_program "$near"
    start serve "$near" "$(text_of docs/c.md#publishing/2 1)"
    start subscriber "$far" "$(text_of docs/c.md#publishing/2 2) --verbose"
    start program "$near" "$(text_of docs/c.md#publishing/2 3)"
    ended program
    ended subscriber
    has subscriber '^format: 640x480xrgb24, uint8\[480x640x3\]$' 1
    interrupt serve
    ended serve
}

# --- docs/python.md

# python_program HOST: makes the library there; sets `variables` to the text that finds the package.
python_program() {
    locked run "$1" "$(text_of docs/python.md#install 1)"
    variables=$("$pages" variables docs/python.md#install)$'\n'
}

# python_reads PLACE BLOCK PATTERN: by a program of the page.
python_reads() {
    at "$1"
    "$pages" show "$2" >"$reader/program.py"
    python_program "$far"
    reads docs/python.md#a-program/2 "$variables$(text_of docs/python.md#a-program/2 2)"
    has_frames "$3" numbered
}

python_waits() {
    at "$1"
    {
        printf 'import sys\nimport framecast\nwith framecast.subscribe(sys.argv[1]) as stream:\n    while not stream.ended:\n'
        printf '        %s\n' "$("$pages" show docs/python.md#waiting)"
        printf '        if frame is not None:\n            print(frame.number)\n'
    } >"$reader/program.py"
    python_program "$far"
    reads docs/python.md#a-program/2 "$variables$(text_of docs/python.md#a-program/2 2)"
    has_frames '^[0-9]*$' numbered
}

python_publishes() {
    at "$1"
    "$pages" show docs/python.md#publishing >"$reader/program.py"
    python_program "$near"
    publishes docs/python.md#publishing/2 "$variables$(text_of docs/python.md#publishing/2 3)" 20
}

# --- docs/formats.md, docs/exit-codes.md

java_formats() {
    at "$1"
    {
        printf 'final Channel channel = Channel.parse("framecast:udp?group=224.20.30.39:24326|channel=cam1");\n'
        printf 'final MemorySegment picture = Arena.global().allocate(1280 * 720 * 3 / 2);\n'
        printf 'try (Framecast node = Framecast.launch();\nSubscriber subscriber = node.subscribe(channel);\n'
        printf 'Publisher publisher = node.publish(channel)) {\n'
        printf 'while (publisher.readySubscribers() < 1) Thread.onSpinWait();\n'
        "$pages" show docs/formats.md#in-java
        printf 'while (!subscriber.awaitFrame(Duration.ofSeconds(1))) Thread.onSpinWait();\n'
        "$pages" show docs/formats.md#in-java/2
        printf 'frame.close();\n}\n'
    } | java_program >"$reader/App.java"
    run "$near" "$JAVA"
    has command '^a tensor of uint8' 1
}

formats() {
    local block=docs/formats.md#from-the-command-line uri="URI='framecast:udp?group=224.20.30.39:24326|channel=cam1'"
    at "$1"
    start subscriber "$far" "$uri; ./framecast subscribe \"\$URI\" --device host --frames 20 --json said.json"
    start publisher "$near" "$uri; $(text_of $block 1)"
    ended subscriber
    interrupt publisher
    # It may wait for another subscriber by now.
    ended publisher '@(0|130)'
    "$pages" show docs/formats.md#from-the-command-line/2 >"$reader/page.json"
    python3 -c '
import json, sys
said, page = (json.load(open(sys.argv[1] + name)) for name in ("/said.json", "/page.json"))
said = said["subscribers"][0]["format"]
sys.exit(0 if said == page else "the subscriber said " + json.dumps(said))' "$reader"
    head -c $((3 * 602112)) /dev/urandom >"$reader/tensors"
    start subscriber "$far" "$uri; ./framecast subscribe \"\$URI\" --device host --out copy --verbose"
    input=$reader/tensors start publisher "$near" "$uri; $(text_of $block 2)"
    ended publisher
    ended subscriber
    has subscriber '^format: float32\[3x224x224\], model=resnet$' 1
    cmp "$reader/tensors" "$reader/copy"
}

# The bytes of a format, each line's before its meaning, are those that the library makes.
encoding() {
    cat >"$reader/program.c" <<'END'
#include <framecast.h>
#include <stdio.h>

int main(void) {
    fc_picture picture = {.pixels = "rgb24", .width = 640, .height = 480};
    fc_tensor tensor;
    fc_rate rate = {.numerator = 30, .denominator = 1};
    fc_format format = {.picture = &picture, .rate = &rate};
    unsigned char bytes[1024];
    size_t length = 0;
    fc_error error;
    format.tensor = fc_picture_tensor(&picture, &tensor) ? &tensor : NULL;
    if (fc_format_encode(&format, bytes, sizeof bytes, &length, &error) != FC_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    for (size_t i = 0; i < length; i++) printf("%02x", bytes[i]);
    return 0;
}
END
    c_program lo
    run lo ./program
    [ "$("$pages" show docs/formats.md#encoding | sed 's/^ *//; s/   .*//' | tr -d ' \n')" = "$(cat "$desk/command.log")" ]
}

exit_codes() {
    start publisher lo "$(text_of docs/exit-codes.md#exit-statuses 1)"
    ended publisher 2
    "$pages" alike docs/exit-codes.md#exit-statuses "$desk/publisher.log"
}

# --- docs/gstreamer.md

gstreamer_install() {
    local number
    for number in 1 2 3; do
        locked run lo "$("$pages" variables docs/gstreamer.md#install)"$'\n'"$(text_of docs/gstreamer.md#install $number)" 120
    done
    grep -q framecastsrc "$desk/command.log"
    grep -q framecastsink "$desk/command.log"
}

# pipeline NAME HOST TEXT: with the elements of this checkout; prints a line for each buffer.
pipeline() {
    local variables
    variables=$("$pages" variables docs/gstreamer.md#install)
    start "$1" "$2" "export GST_TRACERS=stats GST_DEBUG_NO_COLOR=1 GST_DEBUG=GST_TRACER:7"$'\n'"$variables"$'\n'"$3"
}

# The recording has a picture for each that the publisher sent behind the first.
gstreamer_reads() {
    local block=docs/gstreamer.md#pipelines pictures
    at "$1"
    if [ "$near" != "$far" ]; then
        start serve "$far" "$("$pages" variables $block)"$'\n''./framecast serve "$URI|host-group=auto"'
        await serve 'waits for a source'
    fi
    pipeline watch "$far" "$(text_of $block 2)"
    pipeline record "$far" "$(text_of $block 3)"
    start publisher "$near" "$(text_of $block 1)"
    await publisher 'transport: udp'
    await record 'buffer, ' 200
    await watch 'buffer, ' 200
    interrupt publisher
    ended publisher
    ended record
    ended watch
    grep -q 'Got EOS' "$desk/record.log"
    pictures=$(ffprobe -v error -count_packets -select_streams v -show_entries stream=nb_read_packets -of csv=p=0 "$reader/cam1.mp4")
    printf '%s pictures\n' "$pictures"
    [ "$pictures" -ge 60 ]
    [ "$near" = "$far" ] || { interrupt serve && ended serve; }
}

# gstreamer_publishes PLACE BLOCK FIRST: the pipelines FIRST and the next of a block, by the server of the page.
gstreamer_publishes() {
    local pages_block=docs/gstreamer.md#pipelines/2 uri
    at "$1"
    uri=$("$pages" variables $pages_block)$'\n'
    start serve "$near" "$(text_of $pages_block 1)"
    await serve 'publishes for clients'
    if [ "$near" != "$far" ]; then
        start other "$far" "$uri"'./framecast serve "$URI|host-group=auto"'
        await other 'waits for a source'
    fi
    pipeline send "$near" "$uri$(text_of "$2" "$3")"
    pipeline watch "$far" "$uri$(text_of "$2" $(($3 + 1)))"
    await watch 'buffer, ' 200
    interrupt watch
    ended watch '*'
    interrupt send
    ended send '*'
    interrupt serve
    ended serve
    if grep -q 'ERROR' "$desk/watch.log" "$desk/send.log"; then
        grep 'ERROR' "$desk/watch.log" "$desk/send.log"
        return 1
    fi
}

# --- docs/network.md, docs/services.md

# What the rules let through is enough: a host that lets nothing else through gets the stream.
firewall() {
    local host number uri='framecast:udp?group=224.20.30.39:24326|interface=eth0|unicast-ports=40000-40015'
    for host in a b; do
        for number in 1 2 3 4; do
            run $host "$(text_of docs/network.md#firewalls $number)"
        done
        run $host "nft chain inet framecast input '{ policy drop; }'"
    done
    start subscriber b "./framecast subscribe '$uri' --device host"
    start publisher a "./framecast publish '$uri' --input test --frames 50"
    ended publisher
    ended subscriber
    has subscriber 'received 50 frames' 1
    for host in a b; do run $host 'nft delete table inet framecast'; done
}

camera_unit() {
    start subscriber b "./framecast subscribe 'framecast:udp?group=224.20.30.39:24326|channel=cam1|interface=eth0' --frames 30 --device host"
    start camera a "PATH=$work/camera:\$PATH"$'\n'"$("$pages" unit docs/services.md#systemd)"
    ended subscriber
    kill -TERM -- "-${terminal[camera]}"
    ended camera
    run a "grep -q '\"frames\"' /run/cam1.json"
}

# Clients of the service are those with its runtime directory.
serve_unit() {
    local runtime=/run uri='framecast:udp?group=224.20.30.39:24326|channel=cam1|interface=eth0'
    python_program b
    run b 'mkdir -m 700 /run/framecast'
    start serve b "$("$pages" unit docs/services.md#clients-in-other-languages)"
    await serve 'waits for a source'
    "$pages" show docs/python.md#a-program >"$reader/program.py"
    start program b "${variables}python3 program.py '$uri'"
    start publisher a "./framecast publish '$uri' --input test --frames 50"
    ended program
    ended publisher
    has program '(1080, 1920, 3)' 50
    "$pages" show docs/python.md#publishing >"$reader/program.py"
    start subscriber a "./framecast subscribe 'framecast:udp?group=224.20.30.39:24336|channel=scores|interface=eth0' --device host"
    start program b "${variables}python3 program.py 'framecast:udp?group=224.20.30.39:24336|channel=scores|interface=eth0'"
    ended program
    ended subscriber
    has subscriber 'received 20 frames' 1
    kill -TERM -- "-${terminal[serve]}"
    ended serve
    run b 'rm -r /run/framecast'
}

stat_lines() {
    local uri='framecast:udp?group=224.20.30.39:24326|channel=cam1|interface=eth0'
    start subscriber b "./framecast subscribe '$uri' --device host"
    start publisher a "./framecast publish '$uri|host-group=auto' --input test --video 1280x720xrgb24"
    await publisher 'transport: udp'
    python_program a
    # It has more frames than the window has room for.
    printf '%s\n' 'import collections, sys, framecast' 'held = collections.deque(maxlen=12)' \
        'with framecast.subscribe(sys.argv[1]) as stream:' '    for frame in stream:' '        held.append(frame)' \
        >"$reader/program.py"
    start reader a "${variables}python3 program.py '$uri|host-group=auto'"
    start stat a './framecast stat --every 1'
    await stat 'to 10.77.0.2:.* held the publisher back for' 2
    await stat 'to process .* on this host .* copied' 2
    interrupt stat
    ended stat
    interrupt publisher
    ended publisher
    ended subscriber
    ended reader
    "$pages" alike docs/services.md#who-holds-a-publisher-back "$desk/stat.log"
}

# Whether each command of each block that a case took a command of was run.
every_command() {
    local block name count missing=0
    while read -r name; do
        count=$("$pages" count "$name")
        [ "$(grep -c "^$name " <(sort -u "$work/used"))" = "$count" ] || { printf '%s has %d commands, ran:\n' "$name" "$count" &&
            grep "^$name " <(sort -u "$work/used") && missing=1; }
    done < <(cut -d ' ' -f 1 "$work/used" | sort -u)
    return "$missing"
}

loopback_cases() {
    check 'README: demo' demo
    check 'C: a program, loopback' c_reads loopback
    check 'Python: a program, loopback' python_reads loopback docs/python.md#a-program "$PYTHON_LINE"
    check 'Python: asyncio, loopback' python_reads loopback docs/python.md#waiting/2 '^[0-9]*$'
    own_cases loopback
    here_cases loopback
    check 'README: demo, two hosts of its own' two_demo_hosts
    check 'README: help and doctor' helps
    check 'CONTRIBUTING: a failure replayed' simulate
    check 'CONTRIBUTING: fast tests' fast_tests
    check 'formats: encoding' encoding
    check 'exit statuses' exit_codes
}

host_cases() {
    here_cases eth0
    for place in eth0 'two hosts'; do
        check "C: a program, $place" c_reads "$place"
        check "Python: a program, $place" python_reads "$place" docs/python.md#a-program "$PYTHON_LINE"
        check "Python: asyncio, $place" python_reads "$place" docs/python.md#waiting/2 '^[0-9]*$'
    done
    own_cases 'two hosts'
    check 'firewall, two hosts' firewall
    check 'service: a camera, two hosts' camera_unit
    check 'service: for clients, two hosts' serve_unit
    check 'stat, two hosts' stat_lines
}

# own_cases PLACE: what needs a publisher, and subscribers perhaps elsewhere.
own_cases() {
    check "README: command line, $1" command_line "$1"
    check "keys, $1" keys "$1"
    check "C: an event loop, $1" c_polls "$1"
    check "C: formats, $1" c_formats "$1"
    check "C: publishing, $1" c_publishes "$1"
    check "C: a description, $1" c_describes "$1"
    check "Python: waiting, $1" python_waits "$1"
    check "Python: publishing, $1" python_publishes "$1"
    check "formats, $1" formats "$1"
    gstreamer_cases "$1"
}

# here_cases PLACE: one process, or pipelines of one host.
here_cases() {
    check "README: ten lines, $1" readme_java "$1" README.md#in-java
    check "README: the newest frame, $1" readme_java "$1" README.md#when-a-subscriber-is-too-slow
    check "formats: Java, $1" java_formats "$1"
    [ "$1" = loopback ] || ! has_gstreamer || check "GStreamer: a screen and a recording, $1" gstreamer_reads "$1"
}

has_gstreamer() {
    is_few || command -v gst-launch-1.0 >/dev/null
}

gstreamer_cases() {
    has_gstreamer || { lacks "GStreamer, $1" 'apt install gstreamer1.0-tools' && return; }
    check "GStreamer: a screen and a recording, $1" gstreamer_reads "$1"
    check "GStreamer: publishing, $1" gstreamer_publishes "$1" docs/gstreamer.md#pipelines/2 2
    check "GStreamer: publishing H.264, $1" gstreamer_publishes "$1" docs/gstreamer.md#pipelines/3 1
}

# The cases of the loopback run beside those of the other hosts: most wait for a stream that comes in real time.
PYTHON_LINE='^[0-9]* .*(1080, 1920, 3) 1920x1080xrgb24'
mkdir "$work/desk" "$work/beside"
desk=$work/desk
check 'every block has a case, or a reason' every_block
# Cases on every network use what these build.
check 'C: build' c_build
! has_gstreamer || check 'GStreamer: install' gstreamer_install
set -m
(
    trap stop_processes EXIT
    trap 'exit 143' TERM
    processes=()
    desk=$work/beside
    loopback_cases
) >"$work/said" 2>&1 &
beside=$!
set +m
processes+=("$beside")
host_cases
wait "$beside" || fail_case "the cases of the loopback ended with status $?"
cat "$work/said"
passed=$((passed + $(grep -c '^passed: ' "$work/said" || :)))
failed=$((failed + $(grep -c '^FAILED: ' "$work/said" || :)))
if ! is_few && [ "${CASES:-*}" = '*' ]; then
    check 'every command of these blocks was run' every_command
fi
end_cases
