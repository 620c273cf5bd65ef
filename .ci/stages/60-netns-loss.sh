#!/usr/bin/env bash
# A 200 MB file through `framecast publish` and `framecast subscribe` between network namespaces, by multicast at MTU
# 1500, on each transport, while nftables drops datagrams of every lane on both ends, outgoing and incoming: the files
# that arrive must be the file that was sent. Prints a line per case; ends with "N passed, N failed".
# Limit: 1800 s
#
# With segmentation offload the kernel carries up to 45 datagrams as one packet, and a rule drops all of them: losses
# come in bursts. Where the source's interface does without ("single datagrams") a rule at an input drops them one by one.
#
# A drop at an output returns EPERM to the sender, which mostly sends the datagram again at once; a drop at an input is
# silent. So a rate of N % costs the receivers about N % of the datagrams.
#
#   NETNS_LOSS_BYTES   length of the file, default 200000000, 60000000 for the few
#   CASES              pattern that a case's name must match to run, default *
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

FRAME_BYTES=6220800
MTU=1500
GROUP=224.20.30.39:24326
TRANSFER_SECONDS=240
STEP_SECONDS=20

. .ci/netns.sh
# shellcheck disable=SC2034 # read by is_wanted
FEW=('udp, 1 % dropped, 2 receiver(s)' 'udp, 5 % dropped, 1 receiver(s), single datagrams' 'aeron, 1 % dropped, 1 receiver(s)')

[ "$(id -u)" = 0 ] || skip 'network namespaces need root'
for tool in ip nft timeout sha256sum; do
    command -v "$tool" >/dev/null || skip "$tool is missing"
done

# join_bridge NAME ADDRESS: a host on the bridge, with a route for multicast.
join_bridge() {
    add_namespace "$1" || return
    step ip link add eth0 netns "$1" mtu "$MTU" type veth peer name "to-$1" netns "$id-net" mtu "$MTU" || return
    step ip -n "$id-net" link set "to-$1" master bridge up || return
    step ip -n "$1" address add "$2/24" dev eth0 || return
    step ip -n "$1" link set eth0 up || return
    step ip -n "$1" route add 224.0.0.0/4 dev eth0 || return
}

# make_network RECEIVERS: hosts $id-src and $id-dst1 …, joined by a bridge that floods multicast as a plain switch does.
make_network() {
    local i
    delete_namespaces
    add_namespace "$id-net" || return
    step ip -n "$id-net" link add bridge type bridge mcast_snooping 0 || return
    step ip -n "$id-net" link set bridge up || return
    join_bridge "$id-src" 10.77.0.1 || return
    for ((i = 1; i <= $1; i++)); do
        join_bridge "$id-dst$i" "10.77.0.$((i + 1))" || return
    done
}

# drop NAME PERCENT: of a host's datagrams, outgoing and incoming.
drop() {
    step ip netns exec "$1" nft -f - <<RULES
table inet loss {
    chain output {
        type filter hook output priority 0;
        oifname "eth0" meta l4proto udp numgen random mod 100 < $2 counter drop
    }
    chain input {
        type filter hook input priority 0;
        iifname "eth0" meta l4proto udp numgen random mod 100 < $2 counter drop
    }
}
RULES
}

# dropped HOOK NAME…: how many datagrams the rules of hosts dropped at a hook.
dropped() {
    local hook=$1 host sum=0 count
    shift
    for host; do
        count=$(step ip netns exec "$host" nft list chain inet loss "$hook" 2>/dev/null |
            sed -n 's/.*counter packets \([0-9]*\).*/\1/p')
        sum=$((sum + ${count:-0}))
    done
    printf '%d' "$sum"
}

# field FILE NAME: a number of a one-line JSON object, or "?".
field() {
    local value
    value=$(sed -n "s/.*\"$2\": *\([0-9.]*\).*/\1/p" "$1" 2>/dev/null | head -n 1)
    printf '%s' "${value:-?}"
}

# transfer URI RECEIVERS: sets `why` to the reason where a file did not arrive whole.
transfer() {
    local uri=$1 receivers=$2 i status publisher subscribers=()
    why=
    for ((i = 1; i <= receivers; i++)); do
        timeout --kill-after=5 "$TRANSFER_SECONDS" ip netns exec "$id-dst$i" \
            ./framecast subscribe "$uri" --device host --out "$work/out$i" --json "$work/dst$i.json" \
            >/dev/null 2>"$work/dst$i.log" &
        subscribers+=($!)
    done
    timeout --kill-after=5 "$TRANSFER_SECONDS" ip netns exec "$id-src" \
        ./framecast publish "$uri" --input "$work/file" --frame-bytes "$FRAME_BYTES" --wait-subscribers "$receivers" \
        --wait-timeout 60 --json "$work/src.json" >/dev/null 2>"$work/src.log" &
    publisher=$!
    processes=("$publisher" "${subscribers[@]}")
    status=0
    wait "$publisher" || status=$?
    [ "$status" = 0 ] || why="publish ended with $status: $(said "$work/src.log")"
    for ((i = 1; i <= receivers; i++)); do
        status=0
        wait "${subscribers[i - 1]}" || status=$?
        if [ "$status" != 0 ]; then
            why="$why subscribe $i ended with $status: $(said "$work/dst$i.log")"
        elif [ "$(sha256sum <"$work/out$i")" != "$expected" ]; then
            why="$why file $i differs"
        fi
    done
    processes=()
}

# run_case TRANSPORT PERCENT RECEIVERS [single]
run_case() {
    local name="$1, $2 % dropped, $3 receiver(s)${4:+, single datagrams}" begin i seconds repaired='' goodput='' hosts=("$id-src") out in
    is_wanted "$name" || return 0
    rm -f "$work"/out* "$work"/*.json "$work"/*.log
    make_network "$3"
    for ((i = 1; i <= $3; i++)); do
        hosts+=("$id-dst$i")
    done
    if [ -n "${4:-}" ]; then
        step ip netns exec "$id-src" ethtool -K eth0 tx-udp-segmentation off
    fi
    if [ "$2" != 0 ]; then
        for i in "${hosts[@]}"; do
            drop "$i" "$2"
        done
    fi
    begin=$(date +%s%N)
    transfer "framecast:$1?group=$GROUP|channel=file|interface=eth0|mtu=$MTU|alive-timeout=20000" "$3"
    out=$(dropped output "${hosts[@]}")
    in=$(dropped input "${hosts[@]}")
    if [ -z "$why" ] && [ "$2" != 0 ] && { [ "$out" = 0 ] || [ "$in" = 0 ]; }; then
        why="nothing was dropped at one of the hooks: output $out, input $in"
    fi
    if [ -z "$why" ]; then
        passed=$((passed + 1))
        seconds=$((($(date +%s%N) - begin) / 100000000))
        for ((i = 1; i <= $3; i++)); do
            repaired="$repaired $(field "$work/dst$i.json" repaired_datagrams)"
            goodput="$goodput $(field "$work/dst$i.json" goodput_MBps)"
        done
        printf 'passed: %s: %d.%d s, dropped %d going out and %d coming in, repaired%s datagrams,%s MB/s\n' \
            "$name" $((seconds / 10)) $((seconds % 10)) "$out" "$in" "$repaired" "$goodput"
    else
        failed=$((failed + 1))
        printf 'FAILED: %s: %s\n' "$name" "$why"
    fi
}

FILE_BYTES=${NETNS_LOSS_BYTES:-$(is_few && echo 60000000 || echo 200000000)}
work=$(mktemp -d)
# Builds what is not built, so that no case counts that as its own time.
timeout --kill-after=5 600 ./framecast --version >/dev/null
if ! make_network 1 2>"$work/network.log"; then
    skip "network namespaces cannot be made here: $(said "$work/network.log")"
fi
if ! drop "$id-src" 1 2>"$work/network.log"; then
    skip "nftables cannot drop at random here: $(said "$work/network.log")"
fi
head -c "$FILE_BYTES" /dev/urandom >"$work/file"
expected=$(sha256sum <"$work/file")

for transport in udp aeron; do
    for percent in 0 1 5; do
        run_case "$transport" "$percent" 1
    done
    run_case "$transport" 1 2
done
if command -v ethtool >/dev/null; then
    for percent in 0 1 5; do
        run_case udp "$percent" 1 single
    done
    run_case udp 1 2 single
else
    lacks 'single datagrams' 'ethtool is missing'
fi
end_cases
