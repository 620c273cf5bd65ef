#!/usr/bin/env bash
# A stranger on the network of a stream without `auth=` sends JOIN, READY, NACK and RESUME with any address in any field: to a
# host that has not returned ADMIT's value goes ADMIT alone, whatever is asked, and the subscriber beside it has all of the file.
# All that leaves the publisher's host is captured there. Prints a line per case; ends with "N passed, N failed".
# Limit: 600 s
#
#   CASES        pattern that a case's name must match to run, default *
#   VARIATIONS   datagrams of the first case, default 10000, and 2000 in .ci/run
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

FRAME_BYTES=50000
FRAMES=220
FRAMES_PER_SECOND=10
TRANSFER_SECONDS=120
STEP_SECONDS=20
GROUP=224.20.30.47
ALIVE_TIMEOUT_MS=3000

. .ci/netns.sh
short_processes
VARIATIONS=${VARIATIONS:-$(if is_few; then printf 2000; else printf 10000; fi)}
! is_few || FRAMES=120
# shellcheck disable=SC2034 # read by is_wanted
FEW=('JOIN, READY, NACK and RESUME with any address' 'a member that moves to a third host')

[ "$(id -u)" = 0 ] || skip 'network namespaces need root'
for tool in ip timeout cmp python3; do
    command -v "$tool" >/dev/null || skip "$tool is missing"
done

# connect NAME ADDRESS: a host on the bridge.
connect() {
    add_namespace "$1" || return
    step ip link add eth0 netns "$1" mtu 1500 type veth peer name "${1#"$id-"}" netns "$id-net" mtu 1500 || return
    step ip -n "$id-net" link set "${1#"$id-"}" master bridge up || return
    step ip -n "$1" address add "$2/24" dev eth0 || return
    step ip -n "$1" link set eth0 up || return
    step ip -n "$1" route add 224.0.0.0/4 dev eth0 || return
}

# make_network: a source, a subscriber, a stranger, and a third host, to which all leads that is elsewhere.
make_network() {
    add_namespace "$id-net" || return
    step ip -n "$id-net" link add bridge type bridge mcast_snooping 0 || return
    step ip -n "$id-net" link set bridge up || return
    connect "$id-src" 10.80.0.1 || return
    connect "$id-dst" 10.80.0.2 || return
    connect "$id-third" 10.80.0.7 || return
    connect "$id-evil" 10.80.0.9 || return
    step ip -n "$id-src" route add default via 10.80.0.7 || return
}

port=25700
# Of a publisher that evicted no member.
publisher_status=0
# beside MODE [ARGUMENT…]: a stream to one subscriber, all that its source sends is captured, and a stranger.
beside() {
    local uri publisher subscriber capture
    port=$((port + 4))
    uri="framecast:udp?group=$GROUP:$port|channel=addresses|interface=eth0|frame-max=$FRAME_BYTES|alive-timeout=$ALIVE_TIMEOUT_MS"
    timeout --kill-after=5 "$TRANSFER_SECONDS" ip netns exec "$id-src" python3 "$work/stranger.py" capture >"$work/capture.log" 2>&1 &
    capture=$!
    processes+=("$capture")
    timeout --kill-after=5 "$TRANSFER_SECONDS" ip netns exec "$id-dst" ./framecast subscribe "$uri" --device host \
        --out "$work/received" --json "$work/dst.json" >"$work/dst.out" 2>"$work/dst.log" &
    subscriber=$!
    processes+=("$subscriber")
    timeout --kill-after=5 "$TRANSFER_SECONDS" ip netns exec "$id-src" ./framecast publish "$uri" --input "$work/file" \
        --frame-bytes "$FRAME_BYTES" --rate "$FRAMES_PER_SECOND" --wait-subscribers 1 --wait-timeout 60 --json "$work/src.json" \
        >"$work/src.out" 2>"$work/src.log" &
    publisher=$!
    processes+=("$publisher")
    timeout --kill-after=5 "$TRANSFER_SECONDS" ip netns exec "$id-evil" python3 "$work/stranger.py" "$1" "$GROUP" "$port" "${@:2}" \
        >"$work/evil.log" 2>&1 || fail "the stranger: $(said "$work/evil.log")"
    ended "$publisher" "$publisher_status" src
    ended "$subscriber" 0 dst
    cmp -s "$work/file" "$work/received" || fail 'the file differs'
    kill -TERM "$capture"
    wait "$capture" || :
}

# session: the low half of the stream's nonce; once after a build the tool has a stream of its own.
session() {
    sed -n 's/^session //p' "$work/evil.log"
}

# sent KIND: of the captured datagrams to hosts other than the subscriber's, how many are of that kind.
sent() {
    awk -v kind="$1" -v session="$(session)" '$1 == kind && $4 == session { sum += $3 } END { printf "%d", sum }' "$work/capture.log"
}

# admit_alone LEAST [ADDRESS]: to each other host, or to that one, went ADMIT alone, and that often at least.
admit_alone() {
    local others
    others=$(awk -v host="${2:-}" -v session="$(session)" \
        '$4 == session && $1 != "ADMIT" && (host == "" || $2 == host)' "$work/capture.log" | head -n 5 | tr '\n' ';')
    [ -z "$others" ] || fail "the source sent $others"
    [ "$(sent ADMIT)" -ge "$1" ] || fail "the source sent ADMIT $(sent ADMIT) times: $(said "$work/evil.log")"
}

variations() {
    beside variations "$VARIATIONS"
    admit_alone 100
    [ "$(awk '$1 == "ADMIT"' "$work/capture.log" | wc -l)" -ge 3 ] || fail 'ADMIT went to fewer than three hosts'
    note="$(said "$work/evil.log"), $(sent ADMIT) ADMIT"
}

# What the other cases would find, and whether the stranger can speak at all.
honest_member() {
    beside member
    [ "$(sent START)" -ge 1 ] || fail "no START: $(said "$work/evil.log")"
    [ "$(sent repair)" -ge 1 ] || fail "no repair: $(said "$work/evil.log")"
    note="$(sent repair) repairs"
}

moved_member() {
    publisher_status=3
    beside move 10.80.0.7
    [ "$(sent START)" -ge 1 ] || fail "the stranger was no member: $(said "$work/evil.log")"
    admit_alone 1 10.80.0.7
    note=$(said "$work/evil.log")
}

note=
# run_case NAME COMMAND…
run_case() {
    local name=$1 begin=$SECONDS
    shift
    is_wanted "$name" || return 0
    rm -f "$work"/*.{log,out,json} "$work/received"
    why= note= publisher_status=0
    "$@" || fail 'a command failed'
    stop_processes
    if [ -z "$why" ]; then
        passed=$((passed + 1))
        printf 'passed: %s (%d s)%s\n' "$name" $((SECONDS - begin)) "${note:+: $note}"
    else
        failed=$((failed + 1))
        printf 'FAILED: %s: %s\n' "$name" "$why"
    fi
}

work=$(mktemp -d)
# Builds what is not built, so that no case counts that as its own time.
timeout --kill-after=5 600 ./framecast --version >/dev/null
if ! make_network 2>"$work/network.log"; then
    skip "network namespaces cannot be made here: $(said "$work/network.log")"
fi
head -c $((FRAME_BYTES * FRAMES)) /dev/urandom >"$work/file"
cat >"$work/stranger.py" <<'PYTHON'
"""capture: prints, for each kind of datagram, host and session, how many this host sent by unicast to others than
10.80.0.2.
variations GROUP PORT N, member GROUP PORT, move GROUP PORT ADDRESS: a stranger who hears the group (docs/protocol.md)."""
import collections, random, select, signal, socket, struct, sys, time

JOIN, ADMIT, READY, START, ACK, NACK, LEAVE, RESUME = 2, 3, 4, 5, 6, 7, 10, 17
NAMES = {ADMIT: "ADMIT", START: "START", 1: "HEARTBEAT", 8: "FRAME", 11: "EVICT", 12: "ASSIGN", 13: "REPAIR_GROUP", 18: "FORMAT"}
OWN = "10.80.0.9"
SUBSCRIBER = "10.80.0.2"

TABLE = []
for n in range(256):
    for _ in range(8):
        n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
    TABLE.append(n)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def capture():
    """Of the Ethernet frames that go out by any interface, those with UDP over IPv4."""
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003))
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 << 20)
    sock.setblocking(False)
    running = [True]
    signal.signal(signal.SIGTERM, lambda *_: running.clear())
    seen = collections.Counter()
    while running:
        select.select([sock], [], [], 0.1)
        for _ in range(500):
            try:
                frame, where = sock.recvfrom(70000)
            except BlockingIOError:
                break
            if where[2] != 4 or frame[12:14] != b"\x08\x00" or frame[23] != 17:
                continue
            host = socket.inet_ntoa(frame[30:34])
            payload = frame[14 + 4 * (frame[14] & 15) + 8 :]
            if frame[30] >= 224 or host == SUBSCRIBER or len(payload) < 2 or payload[0] >> 4 != 2:
                continue
            kind = payload[0] & 15
            name = NAMES.get(payload[1], "type%d" % payload[1]) if kind == 3 else "repair" if kind == 1 else "probe"
            seen[name, host, payload[8:12].hex()] += 1
    for (name, host, session), count in seen.items():
        print(name, host, count, session)


class Stranger:
    def __init__(self, group, port):
        self.random = random.Random(1)
        self.session = self.control = None
        self.tokens = collections.deque(maxlen=8)
        self.sequence = 0
        self.counter = 0
        self.groups = []
        for offset in (0, 2):
            heard = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            heard.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            heard.bind((group, port + offset))
            heard.setsockopt(
                socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(group) + socket.inet_aton(OWN)
            )
            heard.setblocking(False)
            self.groups.append(heard)
        self.own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.own.bind((OWN, 0))
        self.own.setblocking(False)
        self.port = self.own.getsockname()[1]

    def hear(self):
        for heard in self.groups:
            while True:
                try:
                    data = heard.recv(70000)
                except BlockingIOError:
                    break
                if data[0] == 0x23 and data[1] == 1 and len(data) >= 186:
                    self.session = struct.unpack_from("<Q", data, 8)[0]
                    address = data[121 : 121 + data[120]]
                    self.control = (socket.inet_ntoa(address[1:5]), struct.unpack(">H", address[5:7])[0])
                elif data[0] == 0x22:
                    self.tokens.append(struct.unpack_from("<I", data, 36)[0])
                elif data[0] == 0x21:
                    self.sequence = struct.unpack_from("<Q", data, 16)[0]

    def await_stream(self):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            select.select(self.groups, [], [], 0.1)
            self.hear()
            if self.control and self.sequence:
                print("session %s" % struct.pack("<Q", self.session)[:4].hex(), flush=True)
                return
        sys.exit("no stream")

    def send(self, kind, receiver, body, flags=0, epoch=0):
        self.counter += 1
        length = 40 + len(body)
        head = struct.pack("<BBHIQQIBBHQ", 0x23, kind, length, 0, self.session, receiver, epoch, flags, 0, 0, self.counter)
        made = bytearray(head + body)
        struct.pack_into("<I", made, 4, crc32c(made))
        self.own.sendto(made, self.control)

    def join(self, receiver, control, repair, secret, delivery=2):
        self.send(JOIN, receiver, struct.pack("<IHHQ", 1 << 20, delivery, 0, secret) + control + repair + struct.pack("<I", 0))

    def resume(self, receiver, control, repair, secret, acknowledged):
        self.send(RESUME, receiver, struct.pack("<QQ", acknowledged, secret) + control + repair + struct.pack("<I", 0))

    def ready(self, receiver, token, value):
        """Builds that did not know the value sent none: None."""
        value = b"" if value is None else struct.pack("<Q", value)
        self.send(READY, receiver, struct.pack("<II", token, 4096) + value)

    def nack(self, receiver, first, count):
        self.send(NACK, receiver, struct.pack("<IIQI", 1, 0, first, count))

    def wait_for(self, kind, receiver, repeat):
        """The body of the first datagram of that type."""
        end = time.monotonic() + 10
        while time.monotonic() < end:
            repeat()
            until = time.monotonic() + 0.05
            while time.monotonic() < until:
                select.select([self.own] + self.groups, [], [], 0.01)
                self.hear()
                try:
                    data = self.own.recv(70000)
                except BlockingIOError:
                    continue
                if data[0] == 0x23 and data[1] == kind and struct.unpack_from("<Q", data, 16)[0] == receiver:
                    return data
        sys.exit("no answer of type %d" % kind)

    def become_member(self, receiver, secret):
        address = field(OWN, self.port)
        admit = self.wait_for(ADMIT, receiver, lambda: self.join(receiver, address, address, secret))
        token = struct.unpack_from("<I", admit, 40)[0]
        value = struct.unpack_from("<Q", admit, 48)[0] if len(admit) > 48 else None
        return self.wait_for(START, receiver, lambda: self.ready(receiver, token, value))

    def variations(self, count):
        sockets = [OWN, "10.80.0.7", SUBSCRIBER, "10.80.0.1", "10.80.0.200", "127.0.0.1", "8.8.8.8", "255.255.255.255", "0.0.0.0"]
        sockets += ["224.20.30.47", "10.80.0.255"]
        ids = [self.random.getrandbits(64) | 1 for _ in range(40)]

        def address():
            roll = self.random.random()
            if roll < 0.7:
                host = self.random.choice(sockets)
            elif roll < 0.9:
                host = socket.inet_ntoa(struct.pack(">I", self.random.getrandbits(32)))
            else:
                junk = self.random.randbytes(32)
                return bytes([self.random.randrange(33)]) + junk
            return field(host, self.random.choice([self.port, 9, self.random.randrange(65536)]))

        for sent in range(count):
            self.hear()
            receiver = self.random.choice(ids) if self.random.random() < 0.8 else self.random.getrandbits(64) | 1
            control = address()
            repair = control if self.random.random() < 0.6 else address()
            kind = self.random.randrange(10)
            if kind < 5:
                self.join(receiver, control, repair, self.random.getrandbits(64), self.random.choice([0, 2]))
            elif kind < 6:
                token = self.random.choice(self.tokens) if self.tokens else 0
                self.ready(receiver, token, self.random.choice([None, 0, 1, token, self.random.getrandbits(64)]))
            elif kind < 8:
                self.nack(receiver, max(0, self.sequence - self.random.randrange(512)), 1 + self.random.randrange(1 << 20))
            elif kind < 9:
                self.resume(receiver, control, repair, self.random.getrandbits(64), self.random.randrange(1 + self.sequence))
            else:
                self.send(self.random.choice([ACK, 9, 15, 16, 19, LEAVE, 14]), receiver, self.random.randbytes(8) + bytes(72))
            if sent % 16 == 0:
                time.sleep(0.008)
            if sent % 100 == 0:
                self.attempt()
        # The source forgets them meanwhile.
        time.sleep(4)
        print("%d datagrams" % count)

    def attempt(self):
        """All that one who hears the group can do to have a third host get the window."""
        receiver = self.random.getrandbits(64) | 1
        there = field("10.80.0.7", 9)
        self.tokens.clear()
        self.join(receiver, there, there, 0)
        time.sleep(0.02)
        self.hear()
        for token in self.tokens:
            for value in (None, 0, token, token << 32 | token):
                self.ready(receiver, token, value)
        self.nack(receiver, max(0, self.sequence - 4096), 8192)

    def member(self):
        receiver, secret = self.random.getrandbits(64) | 1, self.random.getrandbits(62)
        self.become_member(receiver, secret)
        for _ in range(20):
            self.hear()
            self.nack(receiver, max(0, self.sequence - 8), 4)
            time.sleep(0.05)
        self.send(LEAVE, receiver, bytes(8))
        print("a member")

    def move(self, host):
        receiver, secret = self.random.getrandbits(64) | 1, self.random.getrandbits(62)
        self.become_member(receiver, secret)
        there = field(host, 9)
        moved = receiver ^ 2
        for _ in range(40):
            self.hear()
            self.resume(moved, there, there, secret, self.sequence)
            self.nack(moved, max(0, self.sequence - 64), 64)
            for token in self.tokens:
                self.ready(moved, token, 0)
            time.sleep(0.05)
        time.sleep(4)
        print("a member that moved")


def field(host, port):
    """An address field of `udp`."""
    return (b"\x07\x04" + socket.inet_aton(host) + struct.pack(">H", port)).ljust(33, b"\0")


if sys.argv[1] == "capture":
    capture()
else:
    stranger = Stranger(sys.argv[2], int(sys.argv[3]))
    stranger.await_stream()
    if sys.argv[1] == "variations":
        stranger.variations(int(sys.argv[4]))
    elif sys.argv[1] == "member":
        stranger.member()
    else:
        stranger.move(sys.argv[4])
PYTHON

run_case 'JOIN, READY, NACK and RESUME with any address' variations
run_case 'a member of the stream gets repairs' honest_member
run_case 'a member that moves to a third host' moved_member
end_cases
