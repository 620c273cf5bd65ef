#!/usr/bin/env bash
# Four subscribers on a host of two sockets with four GPUs and two network interfaces. The host is made up: a network
# namespace with two interfaces on the source's bridge, under a /sys of its own; the GPUs are emulated. Each subscriber
# takes a GPU of its own and receives by the interface nearest to it, or shares the leader of its socket: two lead, and
# all get every frame. Then all are killed, and the next ones find every GPU unused. Ends with "N passed, N failed".
# Limit: 600 s
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

STEP_SECONDS=20
FRAMES=200

. .ci/netns.sh
short_processes

[ "$(id -u)" = 0 ] || skip 'network namespaces need root'
for tool in ip mount timeout python3; do
    command -v "$tool" >/dev/null || skip "$tool is missing"
done

work=$(mktemp -d)
export XDG_RUNTIME_DIR=$work
export FRAMECAST_EMULATED_PCI=0000:19:00.0,0000:1c:00.0,0000:b1:00.0,0000:c1:00.0
sys=$work/sys

network() {
    add_namespace "$id-source" || return
    add_namespace "$id-host" || return
    step ip -n "$id-source" link add bridge type bridge mcast_snooping 0 || return
    step ip -n "$id-source" address add 10.77.9.1/16 dev bridge || return
    step ip -n "$id-source" link set bridge up || return
    step ip -n "$id-source" route add 224.0.0.0/4 dev bridge || return
    local i
    for i in 0 1; do
        step ip link add "nic$i" netns "$id-host" type veth peer name "port$i" netns "$id-source" || return
        step ip -n "$id-source" link set "port$i" master bridge up || return
        step ip -n "$id-host" address add "10.77.$i.1/16" dev "nic$i" || return
        step ip -n "$id-host" link set "nic$i" up || return
    done
    step ip -n "$id-host" route add 224.0.0.0/4 dev nic0 || return
}

# pci PATH NODE VENDOR CLASS
pci() {
    mkdir -p "$sys/devices/$1" "$sys/bus/pci/devices"
    echo "$2" >"$sys/devices/$1/numa_node"
    echo "$3" >"$sys/devices/$1/vendor"
    echo "$4" >"$sys/devices/$1/class"
    ln -s "../../../devices/$1" "$sys/bus/pci/devices/${1##*/}"
}

# nic NAME PATH NODE
nic() {
    pci "$2" "$3" 0x15b3 0x020000
    mkdir -p "$sys/devices/$2/net/$1" "$sys/class/net"
    echo up >"$sys/devices/$2/net/$1/operstate"
    echo 0x1003 >"$sys/devices/$2/net/$1/flags"
    ln -s ../.. "$sys/devices/$2/net/$1/device"
    ln -s "../../devices/$2/net/$1" "$sys/class/net/$1"
}

host() {
    local node first=pci0000:16/0000:16:00.0/0000:17:00.0 second=pci0000:ae/0000:ae:00.0/0000:af:00.0
    for node in 0 1; do
        mkdir -p "$sys/devices/system/node/node$node"
        echo "$node" >"$sys/devices/system/node/node$node/cpulist"
        echo "Node $node MemTotal:       8388608 kB" >"$sys/devices/system/node/node$node/meminfo"
    done
    pci "$first/0000:18:00.0/0000:19:00.0" 0 0x10de 0x030200
    pci "$first/0000:18:04.0/0000:1c:00.0" 0 0x10de 0x030200
    pci "$second/0000:b0:00.0/0000:b1:00.0" 1 0x10de 0x030200
    pci pci0000:ae/0000:ae:02.0/0000:c1:00.0 1 0x10de 0x030200
    nic nic0 "$first/0000:18:08.0/0000:1a:00.0" 0
    nic nic1 "$second/0000:b0:08.0/0000:b2:00.0" 1
}

# on_host COMMAND…: in the made-up host, with mounts of its own.
on_host() {
    # shellcheck disable=SC2016 # Expanded there.
    exec timeout --kill-after=5 120 ip netns exec "$id-host" \
        bash -c 'mount --bind "$0" /sys && exec "$@"' "$sys" "$@"
}

fail() {
    fail_case "$1: $2"
}

# await_lines COUNT TEXT LOGS: until the text stands in so many lines of logs, a minute at most.
await_lines() {
    local _
    for _ in $(seq 120); do
        [ "$(cat "$3"-?.log | grep -c "$2")" -lt "$1" ] || return 0
        sleep 0.5
    done
}

port=24411
# lead LEADERS: four subscribers and a source; a leader by LEADERS.
lead() {
    local uri="framecast:udp?group=224.20.30.50:$((port += 3))|channel=places" i leaders status=0
    for i in 1 2 3 4; do
        on_host ./framecast subscribe "$uri|device=auto,emulated|host-group=auto|leaders=$1" -v \
            --json "$work/$1-$i.json" >"$work/$1-$i.log" 2>&1 &
        processes+=($!)
    done
    # A member that comes later misses frames.
    await_lines 4 'host group: ' "$work/$1"
    timeout --kill-after=5 120 ip netns exec "$id-source" ./framecast publish "$uri" --input test \
        --video 640x480xnv12 --frames "$FRAMES" --rate 100 --wait-subscribers 4 --json "$work/$1-publish.json" \
        >"$work/$1-publish.log" 2>&1 || status=$?
    for i in "${processes[@]}"; do
        wait "$i" || status=$?
    done
    processes=()
    [ "$status" = 0 ] || { fail "$1" "status $status: $(tail -qn 2 "$work/$1"-*.log)"; return; }
    leaders=$(grep -l 'host group: leads' "$work/$1"-?.log | wc -l)
    [ "$leaders" = 2 ] || { fail "$1" "$leaders lead, not 2"; return; }
    for i in 0 1 2 3; do
        grep -q "emulated GPU $i (least used of the host group, others: 0)" "$work/$1"-?.log \
            || { fail "$1" "no subscriber took GPU $i: $(grep -h GPU "$work/$1"-?.log)"; return; }
    done
    FRAMES=$FRAMES python3 - "$1" "$work" <<'PYTHON' || { failed=$((failed + 1)); return; }
import json
import os
import sys

name, work = sys.argv[1:]
published = json.load(open(f"{work}/{name}-publish.json"))["publisher"]["stream_crc32c"]
for i in (1, 2, 3, 4):
    result = json.load(open(f"{work}/{name}-{i}.json"))
    subscriber = result["subscribers"][0]
    if subscriber["frames"] != int(os.environ["FRAMES"]) or subscriber["stream_crc32c"] != published:
        sys.exit(f"failed: {name}, subscriber {i}: {result}")
PYTHON
    pass "leaders=$1"
}

network || skip 'no network namespaces here'
host
(on_host true) || skip 'nothing can be mounted here'
lead nic
for nearest in 'emulated:0 (PIX)' 'emulated:1 (PIX)'; do
    grep -qF "interface: nic0, nearest to $nearest" "$work"/nic-?.log || fail nic "no subscriber receives by nic0: $nearest"
done
for nearest in 'emulated:2 (PIX)' 'emulated:3 (PHB)'; do
    grep -qF "interface: nic1, nearest to $nearest" "$work"/nic-?.log || fail nic "no subscriber receives by nic1: $nearest"
done
if is_few; then
    leave_out 'leaders=socket, killed' 'not among the few of .ci/run'
    end_cases
fi
lead socket

# Killed members use nothing.
uri='framecast:udp?group=224.20.30.50:24450|channel=killed|device=auto,emulated|host-group=auto'
for round in 1 2; do
    for i in 1 2 3 4; do
        on_host ./framecast subscribe "$uri" -v >"$work/killed-$round-$i.log" 2>&1 &
        processes+=($!)
    done
    await_lines 4 'emulated GPU' "$work/killed-$round"
    taken=$(cat "$work/killed-$round"-?.log | grep -o 'emulated GPU . (.*' | sort)
    for i in "${processes[@]}"; do
        # The JVM below `timeout`, which is the command itself.
        pkill -KILL -P "$i" || :
        wait "$i" 2>/dev/null || :
    done
    processes=()
    expected=$(printf 'emulated GPU %d (least used of the host group, others: 0)\n' 0 1 2 3)
    [ "$taken" = "$expected" ] || fail "killed, round $round" "$taken"
done
[ "$failed" != 0 ] || pass killed
end_cases
