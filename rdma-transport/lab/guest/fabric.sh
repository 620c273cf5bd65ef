#!/usr/bin/env bash
# In the guest: makes N Soft-RoCE devices on one switch. Device rxe1 is on interface ve1 (10.1.1.1, fd77::1), whose cable
# ends at port1 of the bridge `fabric`, and so on. With an MTU of 9000 a datagram carries 4096 bytes, with 1500 it
# carries 1024. Called as fabric.sh N [MTU].
#
# All of it is in the initial namespace, for Soft-RoCE sends and receives in no other (Linux 6.1, 6.12).
set -euo pipefail

devices=$1
mtu=${2:-9000}

fail() {
    printf 'lab: fabric: %s\n' "$1" >&2
    exit 1
}

# set_kernel VALUE NAME: as sysctl does, without a process for each.
set_kernel() {
    printf '%s\n' "$1" >"/proc/sys/$2"
}

modprobe -a rdma_rxe rdma_ucm veth sch_netem bridge || fail 'modules of the kernel are missing'
{
    printf 'link set lo up\n'
    printf 'link add fabric type bridge mcast_snooping 0\n'
    printf 'link set fabric mtu %d up\n' "$mtu"
    for ((i = 1; i <= devices; i++)); do
        # Of this follows its link-local address, which is the same in each run then.
        printf 'link add ve%d address 02:fc:00:00:00:%02x type veth peer name port%d\n' "$i" "$i" "$i"
        printf 'link set port%d mtu %d master fabric up\n' "$i" "$mtu"
        printf 'link set ve%d mtu %d\n' "$i" "$mtu"
    done
} | ip -batch - || fail 'no switch'
set_kernel 0 net/ipv4/conf/all/rp_filter
for ((i = 1; i <= devices; i++)); do
    set_kernel 1 "net/ipv4/conf/ve$i/accept_local"
    set_kernel 0 "net/ipv4/conf/ve$i/rp_filter"
    set_kernel 1 "net/ipv4/conf/ve$i/arp_ignore"
    set_kernel 2 "net/ipv4/conf/ve$i/arp_announce"
done

# Every address is one of this host. Left alone, the kernel would send between them over lo, where no Soft-RoCE listens:
# so the table of local addresses is asked last, and before it, for what leaves by ve1, a table that knows only ve1, and
# that its own addresses are here.
{
    printf 'rule add pref 1000 lookup local\nrule del pref 0\n'
    for ((i = 1; i <= devices; i++)); do
        printf 'link set ve%d up\n' "$i"
        printf 'address add 10.1.1.%d/24 dev ve%d\n' "$i" "$i"
        printf 'rule add pref %d oif ve%d lookup %d\n' "$i" "$i" $((100 + i))
        printf 'route add local 10.1.1.%d dev ve%d table %d\n' "$i" "$i" $((100 + i))
        printf 'route add 10.1.1.0/24 dev ve%d src 10.1.1.%d table %d\n' "$i" "$i" $((100 + i))
        printf 'route add 224.0.0.0/4 dev ve%d src 10.1.1.%d table %d\n' "$i" "$i" $((100 + i))
    done
} | ip -4 -batch - || fail 'no IPv4'
{
    printf 'rule add pref 1000 lookup local\nrule del pref 0\n'
    for ((i = 1; i <= devices; i++)); do
        # Without the search for the address elsewhere, which takes a second in which it cannot be used.
        printf 'address add fd77::%x/64 dev ve%d nodad\n' "$i" "$i"
        printf 'rule add pref %d oif ve%d lookup %d\n' "$i" "$i" $((100 + i))
        printf 'route add local fd77::%x dev ve%d table %d\n' "$i" "$i" $((100 + i))
        printf 'route add local fe80::fc:ff:fe00:%x dev ve%d table %d\n' "$i" "$i" $((100 + i))
        printf 'route add fd77::/64 dev ve%d table %d\n' "$i" $((100 + i))
        printf 'route add fe80::/64 dev ve%d table %d\n' "$i" $((100 + i))
        printf 'route add multicast ff00::/8 dev ve%d table %d\n' "$i" $((100 + i))
    done
} | ip -6 -batch - || fail 'no IPv6'
for ((i = 1; i <= devices; i++)); do
    rdma link add "rxe$i" type rxe netdev "ve$i" || fail "no device on ve$i"
done

# A device has the GIDs of its addresses a moment after it was added.
for ((i = 1; i <= devices; i++)); do
    printf -v address '0000:0000:0000:0000:0000:ffff:0a01:01%02x' "$i"
    for ((try = 0; ; try++)); do
        gids=
        for gid in "/sys/class/infiniband/rxe$i/ports/1/gids/"[0-7]; do
            gids+=" $(<"$gid")"
        done
        [[ $gids != *"$address"* || $gids != *fd77:* ]] || break
        [ "$try" -lt 100 ] || fail "rxe$i has no GID of its addresses:$gids"
        sleep 0.1
    done
done
