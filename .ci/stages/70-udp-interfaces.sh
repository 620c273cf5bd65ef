#!/usr/bin/env bash
# `udp` on real interfaces: files through `framecast publish` and `framecast subscribe` between network namespaces, with
# segmentation offload refused here and there, over IPv4 and IPv6, with two interfaces, with small buffers, and with
# faults of the interface in mid-stream. What arrives must be what was sent, and what is said must be what is true.
# Prints a line per case; ends with "N passed, N failed".
# Limit: 1800 s
#
#   CASES   pattern that a case's name must match to run, default *
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

MTU=1500
GROUP=224.20.30.39:24326
METRICS_PORT=9417
TRANSFER_SECONDS=180
STEP_SECONDS=20

. .ci/netns.sh
short_processes
# shellcheck disable=SC2034 # read by is_wanted
FEW=('offload: none at either end' 'group: IPv6 link-local, interfaces by name' 'group: two interfaces' 'doctor: faults of the network'
    'MTU: smaller on the way' 'fault: the source is down for a second' 'buffers: default size, 1 MiB frames, 3 receivers'
    'sessions: two sources on one group and port')

[ "$(id -u)" = 0 ] || skip 'network namespaces need root'
for tool in ip nft ethtool timeout cmp setpriv; do
    command -v "$tool" >/dev/null || skip "$tool is missing"
done

# connect HOST INTERFACE NUMBER [MTU]: to the bridge of that number, whose hosts are 10.77.NUMBER.x and fd77:NUMBER::x, x
# being the host's own number.
connect() {
    local host=$1 device=$2 net=$3 mtu=${4:-$MTU} x=${1##*[!0-9]}
    x=$((${x:-0} + 1))
    step ip link add "$device" netns "$host" mtu "$mtu" type veth peer name "${host#"$id-"}-$device" netns "$id-net" \
        mtu "$mtu" || return
    step ip -n "$id-net" link set "${host#"$id-"}-$device" master "bridge$net" up || return
    step ip -n "$host" address add "10.77.$net.$x/24" dev "$device" || return
    step ip -n "$host" address add "fd77:$net::$x/64" dev "$device" nodad || return
    step ip -n "$host" link set "$device" addrgenmode none 2>/dev/null || :
    step ip -n "$host" link set "$device" up || return
    step ip -n "$host" address add "fe80::$net:$x/64" dev "$device" nodad || return
    step ip -n "$host" route replace 224.0.0.0/4 dev eth0 || return
}

# make_network RECEIVERS [NETS]: hosts $id-src, $id-dst1 …, each on every bridge that floods multicast as a plain switch
# does: eth0 on bridge 0, eth1 on bridge 1.
make_network() {
    local i n
    stop_processes
    delete_namespaces
    add_namespace "$id-net" || return
    for ((n = 0; n < ${2:-1}; n++)); do
        step ip -n "$id-net" link add "bridge$n" type bridge mcast_snooping 0 || return
        step ip -n "$id-net" link set "bridge$n" up || return
    done
    for ((i = 0; i <= $1; i++)); do
        add_namespace "$(host "$i")" || return
        for ((n = 0; n < ${2:-1}; n++)); do
            connect "$(host "$i")" "eth$n" "$n" || return
        done
    done
}

# host NUMBER: the source is 0.
host() {
    if [ "$1" = 0 ]; then printf '%s-src' "$id"; else printf '%s-dst%s' "$id" "$1"; fi
}

offload() {
    step ip netns exec "$1" ethtool -K eth0 "${@:2}" >/dev/null 2>&1
}

# publish URI [ARGUMENT…], subscribe HOST-NUMBER URI [ARGUMENT…]: in the background. Logs are src.log and dstN.log.
publish() {
    local uri=$1
    shift
    # shellcheck disable=SC2086 # words on purpose
    timeout --kill-after=5 "$TRANSFER_SECONDS" ip netns exec "$id-src" ${as:-} ./framecast publish "$uri" \
        --input "$work/$file" --frame-bytes "${frame_bytes:-1048576}" --wait-timeout "${patience:-30}" --json "$work/src.json" "$@" \
        >/dev/null 2>"$work/src.log" &
    publisher=$!
    processes+=("$publisher")
}

subscribe() {
    local number=$1 uri=$2
    shift 2
    # shellcheck disable=SC2086 # words on purpose
    timeout --kill-after=5 "$TRANSFER_SECONDS" ip netns exec "$(host "$number")" ${as:-} ./framecast subscribe "$uri" \
        --device host --out "$work/out/$number" --json "$work/dst$number.json" "$@" >/dev/null 2>"$work/dst$number.log" &
    subscribers[number]=$!
    processes+=($!)
}

# whole NUMBER…: these subscribers ended well and have the file.
whole() {
    local number
    for number; do
        ended "${subscribers[number]}" 0 "dst$number"
        cmp -s "$work/$file" "$work/out/$number" || fail "file $number differs"
    done
}

# transfer URI RECEIVERS [ARGUMENT…]: all at once.
transfer() {
    local uri=$1 receivers=$2 i
    shift 2
    for ((i = 1; i <= receivers; i++)); do
        subscribe "$i" "$uri"
    done
    publish "$uri" --wait-subscribers "$receivers" "$@"
    ended "$publisher" 0 src
    for ((i = 1; i <= receivers; i++)); do
        whole "$i"
    done
}

# metric HOST PATTERN: sum of the counters whose line matches; empty where no process answers.
metric() {
    step ip netns exec "$1" bash -c "exec 3<>/dev/tcp/127.0.0.1/$METRICS_PORT
        printf 'GET /metrics HTTP/1.0\r\n\r\n' >&3; cat <&3" 2>/dev/null |
        awk -v pattern="$2" '!/^#/ && $0 ~ pattern { sum += $NF; found = 1 } END { if (found) printf "%d", sum }' || :
}

# await_stream: until the publisher has published some frames.
await_stream() {
    local try frames
    for ((try = 0; try < 300; try++)); do
        frames=$(metric "$id-src" published_frames_total)
        [ "${frames:-0}" -lt 5 ] || return 0
        kill -0 "$publisher" 2>/dev/null || break
        sleep 0.1
    done
    fail "no stream began: $(said "$work/src.log")"
}

# overruns HOST…: packets that the kernel dropped for want of room in a receive buffer, since the namespace began.
overruns() {
    local host sum=0 count
    for host; do
        count=$(step ip netns exec "$host" cat /proc/net/snmp /proc/net/snmp6 |
            awk '/^Udp: [0-9]/ { sum += $6 } /^Udp6RcvbufErrors/ { sum += $2 } END { print sum + 0 }')
        sum=$((sum + count))
    done
    printf '%d' "$sum"
}

# lines FILE PATTERN: how many say so; none while its process has not begun to write.
lines() {
    cat "$work/$1.log" 2>/dev/null | grep -c -- "$2" || :
}

# says FILE PATTERN [COUNT]
says() {
    local count
    count=$(lines "$1" "$2")
    if [ -n "${3:-}" ]; then
        [ "$count" = "$3" ] || fail "$1 says '$2' $count times, not $3: $(said "$work/$1.log")"
    else
        [ "$count" != 0 ] || fail "$1 does not say '$2': $(said "$work/$1.log")"
    fi
}

no_overruns() {
    local i count
    for ((i = 1; i <= $1; i++)); do
        count=$(overruns "$(host "$i")")
        [ "$count" = 0 ] || fail "$count packets found no room at receiver $i"
    done
}

# field FILE NAME: a number of a one-line JSON object, or "?".
field() {
    local value
    value=$(sed -n "s/.*\"$2\": *\([0-9.]*\).*/\1/p" "$1" 2>/dev/null | head -n 1)
    printf '%s' "${value:-?}"
}

uri() {
    local keys=${1:-}
    # A machine may stand still for seconds.
    [[ $keys == *alive-timeout=* ]] || keys+='|alive-timeout=20000'
    printf 'framecast:udp?group=%s|channel=file|interface=eth0%s' "$GROUP" "$keys"
}

note=
as=
file=
frame_bytes=

# run NAME FUNCTION [ARGUMENT…]: a function that calls `fail` where something is not as it should be.
run() {
    local name=$1 begin tenths
    is_wanted "$name" || return 0
    shift
    why= note= as= file=20m frame_bytes=1048576
    subscribers=()
    rm -rf "$work"/out "$work"/*.json "$work"/*.log
    mkdir -m 777 "$work/out"
    begin=$(date +%s%N)
    "$@"
    stop_processes
    tenths=$((($(date +%s%N) - begin) / 100000000))
    if [ -z "$why" ]; then
        passed=$((passed + 1))
        printf 'passed: %s: %d.%d s%s\n' "$name" $((tenths / 10)) $((tenths % 10)) "${note:+, $note}"
    else
        failed=$((failed + 1))
        printf 'FAILED: %s: %s\n' "$name" "$why"
    fi
}

# offloads "SOURCE OPTIONS" "RECEIVER OPTIONS": switched at the source's and the receiver's interface.
offloads() {
    make_network 1
    # shellcheck disable=SC2086 # words on purpose
    [ -z "$1" ] || offload "$id-src" $1 || fail "ethtool refuses $1"
    # shellcheck disable=SC2086 # words on purpose
    [ -z "$2" ] || offload "$id-dst1" $2 || fail "ethtool refuses $2"
    transfer "$(uri)" 1
    says src 'segmentation offload' 0
    no_overruns 1
    note="$(field "$work/dst1.json" goodput_MBps) MB/s"
}

# A kernel before 6.11 answers EIO to UDP_SEGMENT where an interface has no checksum offload. This one does not, so a
# supervisor answers for it, by seccomp: EIO to every sendmmsg whose first message asks to be cut.
old_kernel() {
    make_network 1
    subscribe 1 "$(uri)"
    as=$work/old-kernel
    publish "$(uri)" --wait-subscribers 1
    ended "$publisher" 0 src
    whole 1
    says src 'no segmentation offload on eth0 (error 5)' 1
    note="$(field "$work/dst1.json" goodput_MBps) MB/s"
}

# group GROUP SOURCE-INTERFACE RECEIVER-INTERFACE
group() {
    make_network 1
    subscribe 1 "framecast:udp?group=$1|channel=file|interface=$3"
    publish "framecast:udp?group=$1|channel=file|interface=$2" --wait-subscribers 1
    ended "$publisher" 0 src
    whole 1
}

# count_packets HOST EXPRESSION: of UDP coming in; counted [HOST] reads it.
count_packets() {
    step ip netns exec "$1" nft "table inet count { chain input { type filter hook input priority 0; $2 counter; }; }"
}

counted() {
    step ip netns exec "$1" nft list table inet count | sed -n 's/.*counter packets \([0-9]*\).*/\1/p'
}

# ttl GROUP EXPRESSION: packets to the group come with the hop limit asked for, and with no other.
ttl() {
    local right wrong
    make_network 1
    count_packets "$id-dst1" "$2 7"
    transfer "framecast:udp?group=$1|channel=file|interface=eth0|ttl=7" 1
    right=$(counted "$id-dst1")
    step ip netns exec "$id-dst1" nft flush ruleset
    count_packets "$id-dst1" "$2 != 7"
    transfer "framecast:udp?group=$1|channel=file|interface=eth0|ttl=7" 1
    wrong=$(counted "$id-dst1")
    [ "$right" != 0 ] && [ "$wrong" = 0 ] || fail "packets with hop limit 7: $right, with another: $wrong"
    note="$right packets"
}

# same_host: one subscriber beside the source, one elsewhere.
same_host() {
    make_network 1
    subscribe 1 "$(uri)"
    timeout --kill-after=5 "$TRANSFER_SECONDS" ip netns exec "$id-src" ./framecast subscribe "$(uri)" --device host \
        --out "$work/out/2" --json "$work/dst2.json" >/dev/null 2>"$work/dst2.log" &
    subscribers[2]=$!
    processes+=($!)
    publish "$(uri)" --wait-subscribers 2
    ended "$publisher" 0 src
    whole 1 2
}

two_interfaces() {
    local on0 on1
    make_network 1 2
    count_packets "$id-dst1" 'iifname "eth0" meta l4proto udp'
    transfer "framecast:udp?group=$GROUP|channel=file|interface=eth1" 1
    on0=$(counted "$id-dst1")
    [ "$on0" = 0 ] || fail "$on0 packets came by eth0"
    step ip netns exec "$id-dst1" nft flush ruleset
    count_packets "$id-dst1" 'iifname "eth1" meta l4proto udp'
    rm -f "$work"/out/*
    subscribe 1 "framecast:udp?group=$GROUP|channel=file|interface=10.77.1.2"
    publish "framecast:udp?group=$GROUP|channel=file|interface=fd77:1::1" --wait-subscribers 1
    ended "$publisher" 0 src
    whole 1
    on1=$(counted "$id-dst1")
    [ "$on1" != 0 ] || fail 'nothing came by eth1'
    note="$on1 packets by eth1"
}

mtu_too_large() {
    make_network 1
    publish "$(uri '|mtu=1501')"
    ended "$publisher" 2 src
    says src '1500 bytes of eth0'
    says src '^framecast: ' 1
}

# last_words NAME PATTERN: the last line of a process, and its JSON, name this cause and no other.
last_words() {
    tail -n 1 "$work/$1.log" | grep -q -- "$2" || fail "$1 does not end with '$2': $(said "$work/$1.log")"
    grep -q -- "\"error\": .*$2" "$work/$1.json" || fail "JSON of $1: $(cat "$work/$1.json")"
    ! grep -q 'no source was heard' "$work/$1.log" || fail "$1 heard a source: $(said "$work/$1.log")"
}

# none_joins SOURCE-PATTERN SUBSCRIBER-PATTERN SUBSCRIBER-URI: both give up, and say why.
none_joins() {
    local patience=12
    subscribe 1 "$3" --wait-timeout 12
    publish "$(uri)" --wait-subscribers 1
    ended "${subscribers[1]}" 2 dst1
    last_words dst1 "$2"
    ended "$publisher" 2 src
    last_words src "$1"
}

mtu_of_path() {
    make_network 1
    # The interfaces say 1500, something between them passes less.
    step ip netns exec "$id-dst1" nft 'table netdev path { chain input { type filter hook ingress device "eth0" priority 0;
        meta l4proto udp meta length > 1400 drop; }; }'
    offload "$id-src" tx-udp-segmentation off
    none_joins '10.77.0.2:[0-9]* has asked to join .*full-size datagram of 1448 bytes' \
        'full-size datagram of 1448 bytes .*lower mtu= at the source' "$(uri)"
}

# Only the source's interface is set to jumbo frames.
mtu_of_source() {
    make_network 1
    step ip -n "$id-src" link set eth0 mtu 9000
    none_joins '10.77.0.2:[0-9]* has asked to join .*full-size datagram of 8936 bytes' \
        'full-size datagram of 8936 bytes .*lower mtu= at the source' "$(uri)"
}

# The group's ports pass the subscriber's firewall and no others; then those that unicast-ports= names pass too.
firewall() {
    local rules='table inet fence { chain input { type filter hook input priority 0; iif lo accept;
        udp dport { 24326-24328PASSED } accept; meta l4proto udp drop; }; }'
    make_network 1
    step ip netns exec "$id-dst1" nft "${rules/PASSED/}"
    none_joins '10.77.0.2:[0-9]* has asked to join .*look at the firewall' \
        'a source was heard .*not behind a filter' "$(uri)"
    make_network 1
    step ip netns exec "$id-dst1" nft "${rules/PASSED/, 40000-40003}"
    subscribe 1 "$(uri '|unicast-ports=40000-40003')"
    publish "$(uri)" --wait-subscribers 1
    ended "$publisher" 0 src
    whole 1
}

# A subscriber that wants less memory taken than the stream needs: both ends name it.
ring_max() {
    make_network 1
    none_joins '10.77.0.2:[0-9]* refuses this stream.*: its ring-max= is below' 'ring-max: a source of frame-max=' "$(uri '|ring-max=1m')"
}

# advises PART [URI-KEYS]: what doctor says of the channel in the first receiver's namespace.
advises() {
    local status=0
    step ip netns exec "$id-dst1" ./framecast doctor "$(uri "${2:-}")" >"$work/doctor" 2>&1 || status=$?
    [ "$status" = "$(grep -q ^missing "$work/doctor" && echo 1 || echo 0)" ] || fail "doctor ended with status $status"
    grep 'network: ' "$work/doctor" | grep -q -- "$1" || fail "doctor says: $(grep 'network: ' "$work/doctor")"
}

# Faults of the network that doctor finds, each with how to fix it.
doctor() {
    local drop='table inet fence { chain input { type filter hook input priority 0; udp RULE drop; }; }'
    make_network 1
    advises '^ok .*comes back, also with 1472 bytes'
    advises 'mtu=9000 is more than the 1500 of eth0: ip link set eth0 mtu 9000' '|mtu=9000'
    step ip netns exec "$id-dst1" nft "${drop/RULE/dport 24326-24328}"
    advises 'does not come back to this host: let UDP'
    step ip netns exec "$id-dst1" nft flush ruleset
    step ip netns exec "$id-dst1" nft "${drop/RULE/length gt 1000}"
    advises 'of full size, 1472 bytes, .* does not come back'
    step ip netns exec "$id-dst1" nft flush ruleset
    step ip -n "$id-dst1" link set eth0 multicast off
    advises 'eth0 has multicast off: ip link set eth0 multicast on'
    step ip -n "$id-dst1" link set eth0 down
    advises 'eth0 is down'
}

# A Prometheus on another host: a tool serves metrics there only when it is asked to.
metrics_address() {
    local try found=
    make_network 1
    publish "$(uri)" --wait-subscribers 1 --metrics-port "$METRICS_PORT" --metrics-address 0.0.0.0
    for ((try = 0; try < 100; try++)); do
        found=$(step ip netns exec "$id-dst1" bash -c "exec 3<>/dev/tcp/10.77.0.1/$METRICS_PORT
            printf 'GET /metrics HTTP/1.0\r\n\r\n' >&3; cat <&3" 2>/dev/null | grep -c '^framecast_ready_members{') && break
        sleep 0.1
    done
    [ "${found:-0}" = 1 ] || fail 'no metrics from another namespace'
    stop_processes
    publish "$(uri)" --wait-subscribers 1 --metrics-port "$METRICS_PORT"
    for ((try = 0; try < 100; try++)); do
        [ -z "$(metric "$id-src" ready_members)" ] || break
        sleep 0.1
    done
    ! step ip netns exec "$id-dst1" bash -c "exec 3<>/dev/tcp/10.77.0.1/$METRICS_PORT" 2>/dev/null ||
        fail 'metrics answer other hosts without --metrics-address'
}

no_address() {
    make_network 1
    step ip -n "$id-dst1" link add bare0 type veth peer name bare1
    step ip -n "$id-dst1" link set bare0 up
    subscribe 1 "framecast:udp?group=$GROUP|channel=file|interface=bare0"
    ended "${subscribers[1]}" 2 dst1
    last_words dst1 'bare0 has no address; give it one with ip addr add'
}

# A second channel whose data lane is the first one's control lane.
neighbouring_ports() {
    local other=framecast:udp\?group=224.20.30.39:24328\|channel=other\|interface=eth0\|alive-timeout=20000 publisher_of_file
    make_network 2
    file=40m
    subscribe 1 "$(uri)"
    publish "$(uri)" --wait-subscribers 1 --rate 6
    publisher_of_file=$publisher
    subscribe 2 "$other"
    file=200m
    timeout --kill-after=5 "$TRANSFER_SECONDS" ip netns exec "$id-src" ./framecast publish "$other" \
        --input "$work/$file" --frame-bytes 1048576 --rate 30 --wait-timeout 30 >/dev/null 2>"$work/other.log" &
    publisher=$!
    processes+=("$publisher")
    ended "$publisher" 0 other
    whole 2
    file=40m
    ended "$publisher_of_file" 0 src
    whole 1
    says dst1 "datagrams a second that are not this channel's reach its ports (24326 data, 24327 repair, 24328 control)"
}

# stream URI-KEYS: 40 MB at 8 MB/s, into its middle.
stream() {
    file=40m
    subscribe 1 "$(uri "$1")"
    publish "$(uri "|rate=8m$1")" --wait-subscribers 1 --metrics-port "$METRICS_PORT"
    await_stream
}

# fault "COMMAND" SECONDS "COMMAND": of the interface, over before anybody is given up.
fault() {
    local errors
    make_network 1
    stream ''
    eval "step $1" || fail "$1 failed"
    sleep "$2"
    errors=$(metric "$id-src" system_errors_total)
    eval "step $3" || fail "$3 failed"
    ended "$publisher" 0 src
    whole 1
    note="${errors:-0} system errors, repaired $(field "$work/dst1.json" repaired_datagrams)"
    [ -z "${4:-}" ] || [ "${errors:-0}" != 0 ] || fail 'no system error was counted'
    [ -z "${4:-}" ] || says src "$4" 1
}

source_down_for_long() {
    make_network 1
    stream '|alive-timeout=1000'
    step ip -n "$id-src" link set eth0 down
    ended "$publisher" 3 src
    ended "${subscribers[1]}" 3 dst1
    says src '^framecast: ' 1
    says dst1 '^framecast: source lost' 1
    note=$(grep -h '^framecast' "$work/src.log")
}

# A filter on the way that drops long datagrams: only their absence at the receivers shows it.
mtu_lowered_on_the_way() {
    make_network 1
    stream '|alive-timeout=5000'
    step ip netns exec "$id-dst1" nft 'table netdev path { chain input { type filter hook ingress device "eth0" priority 0;
        meta l4proto udp meta length > 1400 drop; }; }'
    local try
    for ((try = 0; try < 600; try++)); do
        [ "$(lines src 'has got nothing new')" = 0 ] || break
        sleep 0.1
    done
    step ip netns exec "$id-dst1" nft flush ruleset
    ended "$publisher" 0 src
    whole 1
    says src 'has got nothing new for 5000 ms.*smaller mtu=' 1
}

mtu_lowered() {
    make_network 1
    stream '|alive-timeout=5000'
    step ip -n "$id-src" link set eth0 mtu 1400
    ended "$publisher" 2 src
    ended "${subscribers[1]}" 3 dst1
    says src '^framecast: udp: given up: datagrams of 1448 bytes do not pass eth0, whose MTU is 1400' 1
    says dst1 '^framecast: source lost' 1
}

# buffers FRAME-BYTES FILE RECEIVERS: with the buffers that Linux gives to an ordinary user.
buffers() {
    make_network "$3"
    [ -z "${4:-}" ] || offload "$id-src" tx-udp-segmentation off
    frame_bytes=$1 file=$2
    transfer "$(uri "|socket-buffer=106496|frame-max=$1")" "$3"
    no_overruns "$3"
    note="no overrun, repaired $(field "$work/dst1.json" repaired_datagrams), $(field "$work/dst1.json" goodput_MBps) MB/s"
}

# A user without rights, who asks for more than net.core.rmem_max.
unprivileged() {
    local most
    most=$(cat /proc/sys/net/core/rmem_max)
    make_network 1
    as='setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/nonexistent'
    transfer "$(uri "|socket-buffer=$((most + 65536))")" 1
    says dst1 "receive buffer of $most bytes.*sysctl -w net.core.rmem_max=$((most + 65536))" 1
    says dst1 rmem_max 1
    note=$(grep -h rmem_max "$work/dst1.log")
}

two_sources() {
    local first second
    make_network 2
    subscribe 1 "framecast:udp?group=$GROUP|channel=one|interface=eth0"
    subscribe 2 "framecast:udp?group=$GROUP|channel=two|interface=eth0"
    publish "framecast:udp?group=$GROUP|channel=one|interface=eth0" --wait-subscribers 1
    first=$publisher
    file=80m
    publish "framecast:udp?group=$GROUP|channel=two|interface=eth0|rate=40m" --wait-subscribers 1
    second=$publisher
    ended "$first" 0 src
    ended "$second" 0 src
    whole 2
    file=20m
    whole 1
    no_overruns 2
}

# Datagrams of somebody else on the data port: none reaches the socket, which is connected to the source.
stranger() {
    local heard bad
    make_network 2
    file=80m
    subscribe 1 "$(uri)" --metrics-port "$METRICS_PORT"
    publish "$(uri '|rate=8m')" --wait-subscribers 1 --metrics-port "$METRICS_PORT"
    await_stream
    count_packets "$id-dst1" "ip saddr 10.77.0.3 udp dport ${GROUP##*:}"
    # shellcheck disable=SC2016 # for the other shell
    step ip netns exec "$id-dst2" bash -c 'for ((i = 0; i < 3000; i++)); do
        printf "%0200d" "$i" >"/dev/udp/$0/$1"; done' "${GROUP%:*}" "${GROUP##*:}"
    heard=$(counted "$id-dst1")
    bad=$(metric "$id-dst1" 'receive_(truncated|malformed)_total.*"data"|rejected_datagrams_total')
    ended "$publisher" 0 src
    whole 1
    [ "${heard:-0}" -ge 3000 ] || fail "the stranger was heard ${heard:-0} times"
    [ "$bad" = 0 ] || fail "$bad datagrams of a stranger were looked at"
    note="$heard strange datagrams"
}

# pace BYTES-PER-SECOND FILE: between two looks at the counter of bytes sent, through a queue of 128 KiB that gives out
# 50 MB/s: full speed fills it thousands of times, the rate does not.
pace() {
    local from to begin end percent dropped
    make_network 1
    step ip netns exec "$id-src" tc qdisc add dev eth0 root tbf rate 400mbit burst 64k limit 128k 2>/dev/null ||
        printf 'without a slow queue, for tc or tbf is missing: '
    file=$2
    subscribe 1 "$(uri)"
    publish "$(uri "|rate=$1")" --wait-subscribers 1 --metrics-port "$METRICS_PORT"
    await_stream
    sleep 0.5
    begin=$(date +%s%N)
    from=$(metric "$id-src" 'sent_bytes_total.*"data"')
    sleep 1.5
    to=$(metric "$id-src" 'sent_bytes_total.*"data"')
    end=$(date +%s%N)
    ended "$publisher" 0 src
    whole 1
    percent=$(((${to:-0} - ${from:-0}) * 1000 / ((end - begin) / 1000) * 100000 / $1))
    dropped=$(step ip netns exec "$id-src" tc -s qdisc show dev eth0 2>/dev/null |
        sed -n 's/.*dropped \([0-9]*\).*/\1/p' | head -n 1) || :
    note="$percent % of the rate, ${dropped:-no queue} dropped"
    [ "${dropped:-0}" -le 2000 ] || fail "the queue dropped $dropped packets"
    # The counters are published every 100 ms or so; a busy machine may come short of any rate.
    [ "$percent" -le 112 ] || fail "sent at $percent % of the rate"
    [ "$percent" -ge 10 ] || fail "sent at $percent % of the rate"
}

build_old_kernel() {
    command -v cc >/dev/null || return
    cc -O1 -o "$work/old-kernel" -x c - 2>"$work/cc.log" <<'SOURCE'
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Hands the child's listener to the parent without a message: the parent takes it by pidfd_getfd. */
static int filtered(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendmmsg, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {4, code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

static int copy(pid_t pid, void *to, unsigned long long from, size_t bytes) {
    struct iovec here = {to, bytes}, there = {(void *)(unsigned long)from, bytes};
    return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

static int asks_to_be_cut(struct seccomp_notif *call) {
    struct msghdr message;
    struct cmsghdr control;
    return copy(call->pid, &message, call->data.args[1], sizeof message) && message.msg_controllen >= sizeof control &&
           copy(call->pid, &control, (unsigned long)message.msg_control, sizeof control) && control.cmsg_level == 17 &&
           control.cmsg_type == 103;
}

int main(int argc, char **argv) {
    int up[2], down[2], number = -1;
    char go = 0;
    if (argc < 2 || pipe(up) || pipe(down)) return 125;
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        number = filtered();
        if (write(up[1], &number, sizeof number) < 0 || read(down[0], &go, 1) != 1) _exit(125);
        close(number);
        execvp(argv[1], argv + 1);
        _exit(126);
    }
    if (read(up[0], &number, sizeof number) != sizeof number || number < 0) return 125;
    int listener = syscall(SYS_pidfd_getfd, syscall(SYS_pidfd_open, child, 0), number, 0);
    if (listener < 0 || write(down[1], &go, 1) != 1) return 125;
    struct pollfd ready = {listener, POLLIN, 0};
    while (poll(&ready, 1, -1) >= 0 && !(ready.revents & POLLHUP)) {
        struct seccomp_notif call;
        memset(&call, 0, sizeof call);
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call)) continue;
        struct seccomp_notif_resp answer = {call.id, 0, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE};
        if (asks_to_be_cut(&call)) {
            answer.flags = 0;
            answer.error = -EIO;
        }
        ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 125;
}
SOURCE
    "$work/old-kernel" true
}

work=$(mktemp -d)
chmod 777 "$work"
# Builds what is not built, so that no case counts that as its own time.
timeout --kill-after=5 600 ./framecast --version >/dev/null
if ! make_network 1 2>"$work/network.log"; then
    skip "network namespaces cannot be made here: $(said "$work/network.log")"
fi
head -c 20000000 /dev/urandom >"$work/20m"
cat "$work/20m" "$work/20m" >"$work/40m"
cat "$work/40m" "$work/40m" >"$work/80m"
cat "$work/80m" "$work/80m" "$work/40m" >"$work/200m"
chmod 644 "$work/20m" "$work/40m" "$work/80m" "$work/200m"

run 'offload: at both ends' offloads '' ''
run 'offload: no checksum offload at the source' offloads 'tx off' ''
run 'offload: none at the source' offloads 'tx-udp-segmentation off' ''
run 'offload: none at the receiver' offloads '' 'gro off rx-gro-list off'
run 'offload: none at either end' offloads 'tx-udp-segmentation off gro off' 'gro off tx-udp-segmentation off'
run 'offload: joined in forwarding' offloads 'tx-udp-segmentation off' 'gro on rx-udp-gro-forwarding on'
if build_old_kernel; then
    run 'offload: refused by the kernel (EIO)' old_kernel
else
    lacks 'offload: refused by the kernel (EIO)' "needs cc and seccomp: $(said "$work/cc.log")"
fi

run 'group: IPv4, interfaces by address' group "$GROUP" 10.77.0.1 10.77.0.2
run 'group: IPv6 link-local, interfaces by name' group '[ff12::a]:24326' eth0 eth0
run 'group: IPv6 link-local, interfaces by address' group '[ff12::a]:24326' fe80::0:1 fe80::0:2
run 'group: IPv6 site-local, interfaces by address' group '[ff15::a]:24326' fd77:0::1 fd77:0::2
run 'group: IPv4 hop limit' ttl "$GROUP" 'meta l4proto udp ip daddr 224.0.0.0/4 ip ttl'
run 'group: IPv6 hop limit' ttl '[ff15::a]:24326' 'meta l4proto udp ip6 daddr ff00::/8 ip6 hoplimit'
run 'group: IPv4 hop limit of unicast' ttl "$GROUP" 'meta l4proto udp ip daddr 10.77.0.0/24 ip ttl'
run 'group: IPv6 hop limit of unicast' ttl '[ff15::a]:24326' 'meta l4proto udp ip6 daddr != ff00::/8 ip6 hoplimit'
run 'group: a subscriber on the host of the source' same_host
run 'group: two interfaces' two_interfaces
run 'join: a firewall on unicast, and ports that pass it' firewall
run 'join: less memory than the stream needs' ring_max
run 'join: an interface without an address' no_address
run 'doctor: faults of the network' doctor
run 'metrics: from another host' metrics_address

run 'MTU: larger than the interface has' mtu_too_large
run 'MTU: smaller on the way' mtu_of_path
run 'MTU: larger at the source' mtu_of_source
run 'MTU: lowered for a second' fault 'ip -n $id-src link set eth0 mtu 1400' 1 'ip -n $id-src link set eth0 mtu 1500' \
    'datagrams of 1448 bytes do not pass eth0, whose MTU is 1400'
run 'MTU: lowered on the way for some seconds' mtu_lowered_on_the_way
run 'MTU: lowered for good' mtu_lowered

run 'fault: the source is down for a second' fault 'ip -n $id-src link set eth0 down' 1 'ip -n $id-src link set eth0 up' \
    'eth0 refuses datagrams.*ip link set eth0 up'
run 'fault: a receiver is down for a second' fault 'ip -n $id-dst1 link set eth0 down' 1 'ip -n $id-dst1 link set eth0 up'
run 'fault: a firewall for a second' fault \
    'ip netns exec $id-src nft "table inet x { chain o { type filter hook output priority 0; meta l4proto udp drop; }; }"' \
    1 'ip netns exec $id-src nft delete table inet x' 'eth0 refuses datagrams (error 1).*nft list ruleset'
run 'fault: the source is down for longer than alive-timeout' source_down_for_long

run 'buffers: default size, 1 MiB frames' buffers 1048576 40m 1
run 'buffers: default size, 1 MiB frames, 3 receivers' buffers 1048576 40m 3
run 'buffers: default size, 6.2 MB frames, 3 receivers, no offload' buffers 6220800 40m 3 off
run 'buffers: default size, 80 MB frame' buffers 80000000 80m 1
if setpriv --reuid=65534 --regid=65534 --clear-groups test -r framecast -a -r .framecast 2>/dev/null; then
    run 'buffers: a user without rights' unprivileged
else
    lacks 'buffers: a user without rights' 'another user cannot read this checkout'
fi

run 'sessions: two sources on one group and port' two_sources
run 'sessions: a channel two ports away' neighbouring_ports
run 'sessions: a stranger on the data port' stranger
run 'rate: 20 MB/s' pace 20000000 200m
end_cases
