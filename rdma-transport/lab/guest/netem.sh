#!/usr/bin/env bash
# In the guest: faults on the cables of RDMA devices of fabric.sh. DEVICES are one, or several such as rxe2,rxe3.
#
#   netem.sh DEVICES [in|out] FAULT…   on what a device gets (in, the default) or sends (out); FAULT is what tc-netem(8)
#                                      takes: loss 1%, duplicate 1%, delay 5ms reorder 25%, …; replaces the one before
#   netem.sh DEVICES group FAULT…      on what a device gets of IPv4 groups alone, replaces the one before too
#   netem.sh DEVICES cut               pulls the cable: no carrier, and the RDMA port goes down
#   netem.sh DEVICES restore              no faults, cable in
#   netem.sh DEVICES [in|out] dropped  prints how many packets were lost to a fault, a line for each
#
# Every process costs a second where the guest's CPUs are busy: so one call of each tool is for all devices.
set -euo pipefail

# The default queue of 1000 packets is less than a delay of some ms holds: it would lose what should only be late.
QUEUE=100000

fail() {
    printf 'netem: %s\n' "$1" >&2
    exit 2
}

[ $# -ge 2 ] || fail 'expected DEVICES [in|out] FAULT…, DEVICES cut or DEVICES restore'
IFS=, read -ra devices <<<"$1"
shift
for device in "${devices[@]}"; do
    [ -e "/sys/class/net/port${device#rxe}" ] || fail "no device $device"
done
side=port group=
case $1 in
    in) shift ;;
    group)
        group=yes
        shift
        ;;
    out)
        side=ve
        shift
        ;;
esac

# each FORMAT SIDE…: a line for each device and side.
each() {
    local format=$1 device end
    shift
    for device in "${devices[@]}"; do
        for end; do
            # shellcheck disable=SC2059 # The format is this script's.
            printf "$format\n" "$end${device#rxe}"
        done
    done
}

# Where there is no fault, that is said, and no matter.
without_faults() {
    each 'qdisc del dev %s root' "$@" | tc -force -batch - 2>/dev/null || :
}

case ${1:-} in
    cut) each 'link set %s down' port | ip -batch - ;;
    restore)
        each 'link set %s up' port | ip -batch -
        without_faults port ve
        ;;
    # Where only the groups have a fault, other queues are listed too.
    dropped)
        for device in "${devices[@]}"; do
            tc -s qdisc show dev "$side${device#rxe}"
        done | sed -n '/^qdisc netem/,/dropped/s/.*(dropped \([0-9]*\),.*/\1/p'
        ;;
    '') fail 'which fault?' ;;
    *)
        without_faults "$side"
        if [ -z "$group" ]; then
            each "qdisc add dev %s root netem limit $QUEUE ${*//%/%%}" "$side"
        else
            # Two queues: the groups' with the fault, the rest without.
            each 'qdisc add dev %s root handle 1: prio bands 2 priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1' "$side"
            each "qdisc add dev %s parent 1:1 netem limit $QUEUE ${*//%/%%}" "$side"
            each "qdisc add dev %s parent 1:2 pfifo limit $QUEUE" "$side"
            each 'filter add dev %s parent 1: protocol ip u32 match ip dst 224.0.0.0/4 flowid 1:1' "$side"
        fi | tc -batch -
        ;;
esac
