#!/usr/bin/env bash
# Streams with `auth=` between network namespaces, as their users and strangers meet them: files arrive whole, keys that
# cannot be used end with status 2 and one line, who has no key or another one is kept out and disturbs no other, no byte of
# a key is shown, payloads appear on the network only where both ends say so, and what was captured does nothing when it is sent
# again, to the same stream and to a later one. Prints a line per case; ends with "N passed, N failed".
# Limit: 1200 s
#
#   CASES          pattern that a case's name must match to run, default *
#   AUTH_CIPHERS   values of cipher= with which no payload may appear on the network either, default both
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

CIPHERS=${AUTH_CIPHERS-aes-gcm chacha20-poly1305}
FILE_BYTES=8000000
FRAME_BYTES=100000
FRAMES_PER_SECOND=16
TRANSFER_SECONDS=90
STEP_SECONDS=20
METRICS_PORT=9418
PAYLOAD_MARKER=PLAINTEXT-MARKER
METADATA_MARKER=METADATA-MARKER
FORMAT_MARKER=FORMAT-MARKER

. .ci/netns.sh
# shellcheck disable=SC2034 # read by is_wanted
FEW=('psk: a file to two' 'another key, and none, beside a member' 'capture and replay, psk, cipher=aes-gcm')

[ "$(id -u)" = 0 ] || skip 'network namespaces need root'
for tool in ip nft ethtool timeout cmp python3; do
    command -v "$tool" >/dev/null || skip "$tool is missing"
done

# connect NAME ADDRESS: a host on the bridge, whose interface sends single datagrams.
connect() {
    add_namespace "$1" || return
    step ip link add eth0 netns "$1" mtu 1500 type veth peer name "${1#"$id-"}" netns "$id-net" mtu 1500 || return
    step ip -n "$id-net" link set "${1#"$id-"}" master bridge up || return
    step ip -n "$1" address add "$2/24" dev eth0 || return
    step ip -n "$1" link set eth0 up || return
    step ip -n "$1" route add 224.0.0.0/4 dev eth0 || return
    step ip netns exec "$1" ethtool -K eth0 tx-udp-segmentation off >/dev/null || return
}

# make_network: a source, two subscribers and a stranger on a bridge that sends everything to everybody.
make_network() {
    add_namespace "$id-net" || return
    step ip -n "$id-net" link add bridge type bridge mcast_snooping 0 ageing_time 0 || return
    step ip -n "$id-net" link set bridge up || return
    connect "$id-src" 10.79.0.1 || return
    connect "$id-dst1" 10.79.0.2 || return
    connect "$id-dst2" 10.79.0.3 || return
    connect "$id-evil" 10.79.0.9 || return
}

# lose NAME: one in a hundred of the datagrams that come to a host, so that there are repairs.
lose() {
    step ip netns exec "$1" nft -f - <<'RULES'
table inet loss {
    chain input {
        type filter hook input priority 0;
        iifname "eth0" ip saddr 10.79.0.1 meta l4proto udp numgen random mod 100 < 1 counter drop
    }
}
RULES
}

# key FILE ID DIGIT: a key file with one key, of its owner alone.
key() {
    (umask 077 && printf '%s %s\n' "$2" "$(printf "$3%.0s" {1..64})" >"$1")
}

# write_keys: key files a, b and c; both, which holds a and b; members, a directory with a and b; and such as are refused.
write_keys() {
    mkdir -m 700 "$work/members"
    key "$work/a" a a1b2
    key "$work/b" b b2c3
    key "$work/c" a c3d4
    (umask 077 && cat "$work/a" "$work/b" >"$work/both")
    cp "$work/a" "$work/b" "$work/members"
    (umask 077 && printf 'a a1b2c3d4\n' >"$work/short")
    cp "$work/a" "$work/open"
    chmod 644 "$work/open"
}

port=25300
# fresh_uri: a group of each case's own, so that none hears the one before.
fresh_uri() {
    port=$((port + 4))
    uri="framecast:udp?group=224.20.30.45:$port|channel=auth|interface=eth0|mtu=1500|frame-max=$FRAME_BYTES|alive-timeout=20000"
}

# publish URI [ARGUMENT…], subscribe HOST-NUMBER NAME URI [ARGUMENT…]: in the background. Logs are src.log and NAME.log.
publish() {
    local uri=$1
    shift
    timeout --kill-after=5 "$TRANSFER_SECONDS" ip netns exec "$id-src" ./framecast publish "$uri" --input "$work/file" \
        --frame-bytes "$FRAME_BYTES" --rate "${rate:-$FRAMES_PER_SECOND}" --wait-timeout "${patience:-30}" --metadata "$METADATA_MARKER" \
        --format "camera=$FORMAT_MARKER" --metrics-port "$METRICS_PORT" --json "$work/src.json" "$@" \
        >"$work/src.out" 2>"$work/src.log" &
    publisher=$!
    processes+=("$publisher")
}

subscribe() {
    local number=$1 name=$2 uri=$3
    shift 3
    timeout --kill-after=5 "$TRANSFER_SECONDS" ip netns exec "$id-dst$number" ./framecast subscribe "$uri" --device host \
        --out "$work/$name.received" --json "$work/$name.json" "$@" >"$work/$name.out" 2>"$work/$name.log" &
    subscribers[$name]=$!
    processes+=($!)
}

# whole NAME…: these subscribers ended well and have the file.
whole() {
    local name
    for name; do
        ended "${subscribers[$name]}" 0 "$name"
        cmp -s "$work/file" "$work/$name.received" || fail "the file of $name differs"
    done
}

# refused NAME PART: the log of a process has one line of complaint, with PART in it.
refused() {
    [ "$(grep -c '^framecast: ' "$work/$1.log")" = 1 ] || fail "not one line from $1: $(said "$work/$1.log")"
    grep '^framecast: ' "$work/$1.log" | grep -qF -- "$2" || fail "$1 does not say '$2': $(said "$work/$1.log")"
    if grep -q '^	at \|Exception in' "$work/$1.log"; then
        fail "$1 shows an exception"
    fi
}

# evicted_nobody: the publisher would say so.
evicted_nobody() {
    ! grep -qi evicted "$work/src.log" || fail "a subscriber was evicted: $(said "$work/src.log")"
}

# metrics NAME FILE: what a host's process counts, as long as it has a stream; in the background.
metrics() {
    timeout --kill-after=5 "$TRANSFER_SECONDS" ip netns exec "$1" python3 -c '
import http.client, os, sys, time, urllib.request
while True:
    try:
        url = "http://127.0.0.1:%s/metrics" % sys.argv[1]
        text = urllib.request.urlopen(url, timeout=5).read()
        # A stream that has ended has no counters.
        if b"protection_events_total{" in text:
            with open(sys.argv[2] + ".new", "wb") as out:
                out.write(text)
            os.rename(sys.argv[2] + ".new", sys.argv[2])
    except (OSError, http.client.HTTPException):
        pass
    time.sleep(0.1)' "$METRICS_PORT" "$2" &
    scrapers+=($!)
    processes+=($!)
}

stop_metrics() {
    local pid
    for pid in ${scrapers[@]+"${scrapers[@]}"}; do
        kill -TERM "$pid" 2>/dev/null || :
        wait "$pid" 2>/dev/null || :
    done
    scrapers=()
}

# event FILE EVENT: how often, by the metrics in a file.
event() {
    awk -v event="event=\"$2\"" '!/^#/ && /protection_events/ && index($0, event) { sum += $NF } END { printf "%d", sum }' \
        "$1" 2>/dev/null || printf 0
}

# no_key_shown: no file that a process wrote, and nothing that is shown of one, has a part of a key.
no_key_shown() {
    local file
    for file in "$work"/*.{log,out,json,metrics} "$work"/shown.*; do
        if [ -e "$file" ] && grep -qaiE '(a1b2){4}|(b2c3){4}|(c3d4){4}' "$file"; then
            fail "$(basename -- "$file") shows a key"
        fi
    done
}

declare -A subscribers=()
scrapers=()

# run_case NAME COMMAND…
run_case() {
    local name=$1 begin=$SECONDS
    shift
    is_wanted "$name" || return 0
    rm -f "$work"/*.{log,out,json,received,metrics} "$work"/shown.*
    why=
    subscribers=()
    fresh_uri
    "$@" || fail 'a command failed'
    stop_processes
    no_key_shown
    if [ -z "$why" ]; then
        passed=$((passed + 1))
        printf 'passed: %s (%d s)%s\n' "$name" $((SECONDS - begin)) "${note:+: $note}"
    else
        failed=$((failed + 1))
        printf 'FAILED: %s: %s\n' "$name" "$why"
    fi
    note=
}

# transfer SOURCE-AUTH FIRST-AUTH SECOND-AUTH
transfer() {
    subscribe 1 first "$uri|auth=$2"
    subscribe 2 second "$uri|auth=$3"
    rate=0 publish "$uri|auth=$1" --wait-subscribers 2
    ended "$publisher" 0 src
    whole first second
    evicted_nobody
}

# unusable NAME AUTH PART: at each end.
unusable() {
    local end
    for end in publish subscribe; do
        local input=() status=0
        [ "$end" = subscribe ] || input=(--input "$work/file" --frame-bytes "$FRAME_BYTES")
        timeout --kill-after=5 30 ip netns exec "$id-src" ./framecast "$end" "$uri|auth=$2" --wait-timeout 2 \
            ${input[@]+"${input[@]}"} --json "$work/$1-$end.json" >"$work/$1-$end.out" 2>"$work/$1-$end.log" || status=$?
        [ "$status" = 2 ] || fail "$end with $1 ended with $status"
        refused "$1-$end" "$3"
    done
}

unusable_keys() {
    unusable missing "psk:$work/nowhere" nowhere
    unusable short "psk:$work/short" 'short'
    unusable open "psk:$work/open" 'chmod 600'
    unusable scheme 'password:x' 'expected psk:FILE'
}

# Beside a member, who has all of it: one with another key, one without, and what is shown of the processes meanwhile.
strangers() {
    metrics "$id-src" "$work/src.metrics"
    metrics "$id-dst1" "$work/member.metrics"
    subscribe 1 member "$uri|auth=psk:$work/a" --metrics-port "$METRICS_PORT"
    subscribe 2 stranger "$uri|auth=psk:$work/c" --wait-timeout 14
    subscribe 2 keyless "$uri" --wait-timeout 6
    rate=4 publish "$uri|auth=psk:$work/a" --wait-subscribers 1
    sleep 8
    timeout --kill-after=5 30 ./framecast stat --all --json - >"$work/shown.stat" 2>&1 || fail 'stat failed'
    timeout --kill-after=5 60 ./framecast doctor >"$work/shown.doctor" 2>&1 || :
    ended "${subscribers[stranger]}" 2 stranger
    ended "${subscribers[keyless]}" 2 keyless
    refused stranger 'does not take key a'
    refused keyless 'give auth='
    ended "$publisher" 0 src
    whole member
    evicted_nobody
    stop_metrics
    grep -qF framecast_protection_events_total "$work/shown.stat" || fail 'stat does not show what auth= did'
    [ "$(event "$work/src.metrics" bad_proof)" -gt 0 ] || fail 'the source counted no bad proof'
}

# A publisher with another key than all who listen, and one without a key.
strange_sources() {
    subscribe 1 careful "$uri|auth=psk:$work/a" --wait-timeout 6
    patience=8 publish "$uri"
    ended "${subscribers[careful]}" 2 careful
    refused careful 'has no auth='
    ended "$publisher" 2 src
    refused src 'no subscribers'
    fresh_uri
    subscribe 1 careful "$uri|auth=psk:$work/a" --wait-timeout 12
    patience=14 publish "$uri|auth=psk:$work/c"
    ended "${subscribers[careful]}" 2 careful
    refused careful 'does not take key a'
    ended "$publisher" 2 src
    refused src 'no subscribers'
}

# A member that stands still until it is evicted, while its key file goes: it is out, and does not come in again. The other has
# all.
evicted_member() {
    local java
    mkdir -m 700 "$work/evicted"
    cp "$work/a" "$work/b" "$work/evicted"
    uri=${uri/alive-timeout=20000/alive-timeout=2000}
    subscribe 1 first "$uri|auth=keys:$work/a"
    subscribe 2 second "$uri|auth=keys:$work/b"
    rate=4 publish "$uri|auth=keys:$work/evicted" --wait-subscribers 2
    for _ in {1..200}; do
        [ ! -s "$work/second.received" ] || break
        sleep 0.1
    done
    [ -s "$work/second.received" ] || fail 'the member received nothing'
    java=$(pgrep -P "${subscribers[second]}")
    rm "$work/evicted/b"
    kill -STOP "$java"
    sleep 5
    kill -CONT "$java"
    subscribe 2 again "$uri|auth=keys:$work/b" --wait-timeout 12
    ended "${subscribers[again]}" 2 again
    refused again 'does not take key b'
    ended "${subscribers[second]}" 3 second
    grep -q 'it evicted this subscriber' "$work/second.log" || fail "the member does not say it: $(said "$work/second.log")"
    ended "$publisher" 3 src
    refused src '1 subscriber(s) were evicted'
    whole first
}

# other_payloads SOURCE-KEY OTHER-KEY: a subscriber says something else of payloads than the source. It names the key, and the
# one that says the same has all.
other_payloads() {
    subscribe 1 same "$uri|auth=psk:$work/a$1"
    subscribe 2 other "$uri|auth=psk:$work/a$2" --wait-timeout 6
    rate=8 publish "$uri|auth=psk:$work/a$1" --wait-subscribers 1
    ended "${subscribers[other]}" 2 other
    refused other 'write payloads=unprotected at both ends, or at neither'
    ended "$publisher" 0 src
    whole same
    evicted_nobody
}

# stranger CAPTURE WORD…: hears and sends at the bridge, in the background.
stranger() {
    ip netns exec "$id-evil" python3 "$work/stranger.py" "$@" >"$work/shown.stranger" 2>&1 &
    attacker=$!
    processes+=("$attacker")
}

# watched CAPTURE WORD…: a stream to two subscribers that lose datagrams, beside a stranger; counters are looked at meanwhile.
watched() {
    local source_auth=$1 first_auth=$2 second_auth=$3
    shift 3
    stranger "$@"
    metrics "$id-src" "$work/src.metrics"
    metrics "$id-dst1" "$work/first.metrics"
    subscribe 1 first "$uri|auth=$first_auth" --metrics-port "$METRICS_PORT"
    subscribe 2 second "$uri|auth=$second_auth"
    rate=10 publish "$uri|auth=$source_auth" --wait-subscribers 2
    ended "$publisher" 0 src
    whole first second
    evicted_nobody
    stop_metrics
    kill -TERM "$attacker"
    wait "$attacker" || :
    note="${note:-}$(tail -n 1 "$work/shown.stranger") "
}

# captured KEY=VALUE SOURCE-AUTH FIRST-AUTH SECOND-AUTH: with what is captured sent again at once, and into a later stream.
# The first is a channel's key for payloads, or empty.
captured() {
    local payloads=$1 file=$work/capture marker
    shift
    [ -z "$payloads" ] || uri="$uri|$payloads"
    rm -f "$file"
    watched "$@" echo "$file"
    for marker in "$METADATA_MARKER" "$FORMAT_MARKER"; do
        ! grep -qaF "$marker" "$file" || fail "$marker is on the network"
    done
    if [ "$payloads" = payloads=unprotected ]; then
        # As SECURITY.md says.
        grep -qaF "$PAYLOAD_MARKER" "$file" || fail 'no payload was captured'
    else
        ! grep -qaF "$PAYLOAD_MARKER" "$file" || fail "$PAYLOAD_MARKER is on the network"
    fi
    [ "$(event "$work/src.metrics" replayed)" -gt 0 ] || fail 'the source counted no replay'
    [ "$(event "$work/first.metrics" replayed)" -gt 0 ] || fail 'a subscriber counted no replay'
    rm -f "$work"/*.metrics
    watched "$@" again "$file"
    [ "$(event "$work/src.metrics" no_key)" -gt 0 ] || fail 'the source counted nothing of the stream before'
    [ "$(event "$work/first.metrics" no_key)" -gt 0 ] || fail 'a subscriber counted nothing of the stream before'
}

# Without a protection everything is on the network: what is looked for would be found.
shown_without() {
    local marker
    stranger listen "$work/capture"
    subscribe 1 first "$uri"
    rate=0 publish "$uri" --wait-subscribers 1
    ended "$publisher" 0 src
    whole first
    kill -TERM "$attacker"
    wait "$attacker" || :
    for marker in "$METADATA_MARKER" "$FORMAT_MARKER" "$PAYLOAD_MARKER"; do
        grep -qaF "$marker" "$work/capture" || fail "$marker was not captured without auth="
    done
}

work=$(mktemp -d)
# Builds what is not built, so that no case counts that as its own time.
timeout --kill-after=5 600 ./framecast --version >/dev/null
if ! make_network 2>"$work/network.log"; then
    skip "network namespaces cannot be made here: $(said "$work/network.log")"
fi
if ! { lose "$id-dst1" && lose "$id-dst2"; } 2>"$work/network.log"; then
    skip "nftables cannot drop at random here: $(said "$work/network.log")"
fi
write_keys
python3 - "$work/file" "$FILE_BYTES" "$PAYLOAD_MARKER" <<'PYTHON'
import os, sys
path, length, marker = sys.argv[1], int(sys.argv[2]), sys.argv[3].encode()
with open(path, "wb") as out:
    while out.tell() < length:
        out.write((marker + os.urandom(240))[: length - out.tell()])
PYTHON
cat >"$work/stranger.py" <<'PYTHON'
"""Hears all datagrams of the bridge: listen FILE, echo FILE (each is sent again, soon and late), again FILE (those of an
earlier stream are sent, to the ports of this one). A captured datagram is its length, 4 bytes, and its Ethernet frame."""
import collections, random, select, signal, socket, struct, sys, time

mode, path = sys.argv[1:]
sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003))
sock.bind(("eth0", 0))
sock.setsockopt(263, 1, struct.pack("iHH8s", socket.if_nametoindex("eth0"), 1, 0, b""))  # promiscuous
sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
sock.setblocking(False)
own = open("/sys/class/net/eth0/address").read().strip()
own = bytes.fromhex(own.replace(":", ""))
running = True
heard = sent = 0
ports = collections.defaultdict(set)
macs = {}


def stop(*_):
    global running
    running = False


def datagram(frame):
    """Offset of the UDP header, or 0."""
    if frame[6:12] == own or frame[12:14] != b"\x08\x00" or frame[23] != 17:
        return 0
    return 14 + 4 * (frame[14] & 15)


def send(frame, udp, port=None, mac=None):
    """Source and addresses are as they were; the checksum, which the sender left to its interface, is left out."""
    global sent
    made = bytearray(frame)
    made[6:12] = own
    if mac:
        made[0:6] = mac
    if port:
        made[udp + 2 : udp + 4] = struct.pack(">H", port)
    made[udp + 6 : udp + 8] = b"\0\0"
    try:
        sock.send(made)
        sent += 1
    except (BlockingIOError, OSError):
        pass


signal.signal(signal.SIGTERM, stop)
later = collections.deque()
old = []
if mode == "again":
    data = open(path, "rb").read()
    at = 0
    while at < len(data):
        (length,) = struct.unpack_from("<I", data, at)
        old.append(data[at + 4 : at + 4 + length])
        at += 4 + length
    control = [frame for frame in old if len(frame) < 1400]
    old = control * 8 + old
    random.Random(1).shuffle(old)
out = None if mode == "again" else open(path, "wb")
next_old = 0
while running:
    select.select([sock], [], [], 0.002)
    for _ in range(200):
        try:
            frame = sock.recv(70000)
        except BlockingIOError:
            break
        udp = datagram(frame)
        if not udp:
            continue
        heard += 1
        address = frame[30:34]
        macs[address] = frame[0:6]
        if address[0] < 224:
            ports[address].add(struct.unpack_from(">H", frame, udp + 2)[0])
        if out:
            out.write(struct.pack("<I", len(frame)) + frame)
        if mode == "echo":
            now = time.monotonic()
            later.append((now + 0.02, frame, udp))
            later.append((now + 1, frame, udp))
    now = time.monotonic()
    for _ in range(min(400, len(later))):
        due, frame, udp = later.popleft()
        if due <= now:
            send(frame, udp)
        else:
            later.append((due, frame, udp))
    for _ in range(min(20, len(old)) if heard else 0):
        frame = old[next_old % len(old)]
        next_old += 1
        udp = datagram(frame)
        address = frame[30:34]
        if address[0] >= 224:
            send(frame, udp)
        for port in list(ports[address]):
            send(frame, udp, port, macs[address])
if out:
    out.close()
print("heard %d datagrams, sent %d" % (heard, sent))
PYTHON

run_case 'psk: a file to two' transfer "psk:$work/a" "psk:$work/a" "psk:$work/a"
run_case 'keys: a file to two' transfer "keys:$work/members" "keys:$work/a" "keys:$work/b"
run_case 'two keys at the publisher' transfer "psk:$work/both" "psk:$work/a" "psk:$work/b"
run_case 'keys: a member that is evicted stays out' evicted_member
run_case 'keys that cannot be used' unusable_keys
run_case 'another key, and none, beside a member' strangers
run_case 'sources with another key, and none' strange_sources
run_case 'capture without auth=' shown_without
run_case 'payloads: the source encrypts, a subscriber does not' other_payloads '' '|payloads=unprotected'
run_case 'payloads: a subscriber encrypts, the source does not' other_payloads '|payloads=unprotected' ''
run_case 'capture and replay, keys' captured '' "keys:$work/members" "keys:$work/a" "keys:$work/b"
for payloads in '' payloads=unprotected ${CIPHERS:+$(printf 'cipher=%s ' $CIPHERS)}; do
    run_case "capture and replay, psk${payloads:+, $payloads}" captured "$payloads" \
        "psk:$work/a" "psk:$work/a" "psk:$work/a"
done
end_cases
