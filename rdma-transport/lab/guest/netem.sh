#!/usr/bin/env bash
# In the guest: faults on the cable of an RDMA device of fabric.sh.
#
#   netem.sh DEVICE [in|out] FAULT…   on what the device gets (in, the default) or sends (out); FAULT is what tc-netem(8)
#                                     takes: loss 1%, duplicate 1%, delay 5ms reorder 25%, …; replaces the one before
#   netem.sh DEVICE group FAULT…      on what the device gets of IPv4 groups alone, replaces the one before too
#   netem.sh DEVICE cut               pulls the cable: no carrier, and the RDMA port goes down
#   netem.sh DEVICE mend              no faults, cable in
#   netem.sh DEVICE [in|out] dropped  prints how many packets were lost to a fault
set -euo pipefail

# The default queue of 1000 packets is less than a delay of some ms holds: it would lose what should only be late.
QUEUE=100000

fail() {
    printf 'netem: %s\n' "$1" >&2
    exit 2
}

[ $# -ge 2 ] || fail 'expected DEVICE [in|out] FAULT…, DEVICE cut or DEVICE mend'
number=${1#rxe}
shift
[ -e "/sys/class/net/port$number" ] || fail "no device rxe$number"
interface=port$number group=
case $1 in
    in) shift ;;
    group)
        group=yes
        shift
        ;;
    out)
        interface=ve$number
        shift
        ;;
esac

case ${1:-} in
    cut) ip link set "port$number" down ;;
    mend)
        ip link set "port$number" up
        tc qdisc del dev "port$number" root 2>/dev/null || :
        tc qdisc del dev "ve$number" root 2>/dev/null || :
        ;;
    # Where only the groups have a fault, other queues are listed too.
    dropped) tc -s qdisc show dev "$interface" | sed -n '/^qdisc netem/,/dropped/s/.*(dropped \([0-9]*\),.*/\1/p' ;;
    '') fail 'which fault?' ;;
    *)
        tc qdisc del dev "$interface" root 2>/dev/null || :
        if [ -z "$group" ]; then
            tc qdisc add dev "$interface" root netem limit $QUEUE "$@"
        else
            # Two queues: the groups' with the fault, the rest without.
            tc qdisc add dev "$interface" root handle 1: prio bands 2 priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
            tc qdisc add dev "$interface" parent 1:1 netem limit $QUEUE "$@"
            tc qdisc add dev "$interface" parent 1:2 pfifo limit $QUEUE
            tc filter add dev "$interface" parent 1: protocol ip u32 match ip dst 224.0.0.0/4 flowid 1:1
        fi
        ;;
esac
