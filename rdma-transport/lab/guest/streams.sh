#!/usr/bin/env bash
# In the guest: a real stream over verbs under faults. One process publishes on rxe1, three subscribe, each on a
# device of its own; faults are done to the cables, the processes and the devices while frames flow. Called as
# streams.sh FILE, with some 10 MB that are published again and again; their checksum is compared at every subscriber.
# Ends with "N passed, N failed".
#
#   FRAMECAST_LAB_STREAMS   which parts, in this order: copies host_group direct direct_set schemes one_sided loss
#                           faults_to_cables devices_gone; default all
#
# A JVM takes long to start under emulation: so there is one stream with many faults, not one for each fault. Before it,
# short ones: with a co-root, with a host group, into device memory, there with a co-root, and those of a bench.
# Lengths of time are those of the faults; how long a stream takes to get over one is not judged, but for ALIVE_MS.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../../.." && pwd)
file=$1
bytes=$(stat -c %s "$file")

# Silence after which a peer is lost: longer than a JVM under emulation stands still by itself.
ALIVE_MS=20000
# What is not there by then never comes.
PATIENCE_S=900
FRAME_BYTES=262144
# What a fault that only needs something to flow gets: whole frames.
PIECE_BYTES=$((16 * FRAME_BYTES))
METRICS_PORT=9400
GONE='the device is gone or failed'

work=$(mktemp -d)
cd -- "$work"
passed=0 failed=0
# Of the stream that runs: its processes, 0 the publisher; what was published, in pieces of the file, and altogether.
declare -A pid=()
pieces=()
published=0
deleted=0
nacks_before=0
repairs_before=0
by_datagram_before=0
pulled=0
# Of subscribers.
device=host
keys=
options=()
# Of the publisher.
source_options=()
counts='nothing counted'

say() {
    printf '%s\n' "$*"
}

# check NAME COMMAND…: of what the command says the last line is shown, or all of it.
check() {
    local name=$1 status=0 begin=$SECONDS
    shift
    "$@" >check 2>&1 || status=$?
    if [ "$status" = 0 ]; then
        passed=$((passed + 1))
        say "passed: $name: $(tail -n 1 check) ($((SECONDS - begin)) s)"
    else
        failed=$((failed + 1))
        say "FAILED: $name ($((SECONDS - begin)) s): $(cat check)"
    fi
}

# eventually COMMAND…: until it succeeds, or patience is over.
eventually() {
    local until=$((SECONDS + PATIENCE_S))
    until "$@"; do
        [ "$SECONDS" -lt "$until" ] || return 1
        # Each look costs processes, which under emulation keep those that are waited for from the CPU.
        sleep 1
    done
}

# read_metrics WHO: the metrics of a process, 0 for the publisher; starts no process.
read_metrics() {
    local line
    metrics=()
    { exec 6<>"/dev/tcp/127.0.0.1/$((METRICS_PORT + $1))"; } 2>/dev/null || return
    printf 'GET /metrics HTTP/1.0\r\n\r\n' >&6
    while read -r line; do
        [[ $line != framecast_* ]] || metrics+=("$line")
    done <&6
    exec 6>&-
}

# add_up NAME [LABEL]: sets `sum` to a counter among those read last, summed over its labels, or those that hold LABEL.
add_up() {
    local line
    sum=0
    for line in "${metrics[@]}"; do
        if [[ $line =~ ^$1[{\ ] && $line == *"${2:-}"* ]]; then
            # From ten million on the value reads 1.0E7.
            printf -v line %.0f "${line##* }"
            sum=$((sum + line))
        fi
    done
}

# metric WHO NAME [LABEL]: prints one counter.
metric() {
    local sum
    read_metrics "$1" && add_up "$2" "${3:-}" && say "$sum"
}

# begin [KEYS-OF-SOURCE [KEYS-OF-SUBSCRIBER-3 [DEVICE-OF-ALL-SUBSCRIBERS-WITH-KEYS]]]: starts a stream whose input is
# descriptor 5, in a directory of its own.
begin() {
    local uri="framecast:verbs?group=239.77.9.1:24400|channel=faults|alive-timeout=$ALIVE_MS$keys|interface=" n
    cd -- "$(mktemp -d -p "$work")"
    pieces=() published=0
    mkfifo "input"
    for n in 1 2 3; do
        "$root/framecast" subscribe "${uri}${3:-rxe$((n + 1))}$([ $n != 3 ] || printf %s "${2:-}")" --device "$device" \
            "${options[@]}" --wait-timeout $PATIENCE_S --out "out$n" \
            --json "json$n" --metrics-port $((METRICS_PORT + n)) >"said$n" 2>&1 &
        pid[$n]=$!
    done
    "$root/framecast" publish "${uri}rxe1${1:-}" --input - --frame-bytes "$FRAME_BYTES" "${source_options[@]}" --wait-subscribers 3 \
        --wait-timeout $PATIENCE_S --linger 120 --json json0 --metrics-port "$METRICS_PORT" <input >said0 2>&1 &
    pid[0]=$!
    exec 5>input
    rm input
}

# publish BYTES: as many of the file's first.
publish() {
    pieces+=("$1")
    published=$((published + $1))
    timeout "$PATIENCE_S" head -c "$1" "$file" >&5 ||
        { say "not taken by the publisher, which said: $(tail -n 2 said0 | tr '\n' ' ')"; return 1; }
}

has_all() {
    local sizes size
    sizes=$(stat -c %s "${@/#/out}" 2>/dev/null) || return
    for size in $sizes; do
        [ "$size" -ge "$published" ] || return
    done
}

# arrives SUBSCRIBER…: they have all that was published.
arrives() {
    eventually has_all "$@" && return
    local n
    for n in 0 "$@"; do
        say "$n: $(stat -c %s "out$n" 2>/dev/null) of $published bytes, said: $(tail -n 2 "said$n" | tr '\n' ' ')"
    done
    return 1
}

# ends WHO STATUS PATTERN: with that exit status, and a last line like that.
ends() {
    local status=0
    eventually not alive "$1" || { say "$1 still runs"; return 1; }
    wait "${pid[$1]}" || status=$?
    say "status $status, $(tail -n 1 "said$1")"
    [ "$status" = "$2" ] && [[ $(tail -n 1 "said$1") =~ $3 ]]
}

not() {
    ! "$@"
}

alive() {
    kill -0 "${pid[$1]}" 2>/dev/null
}

# faults FAULT…: on the cables of all subscribers.
faults() {
    "$here/netem.sh" rxe2,rxe3,rxe4 "$@"
}

# lost: sets `taken` to how many packets a fault took on the cables of all subscribers.
lost() {
    local packets
    taken=0
    while read -r packets; do
        taken=$((taken + packets))
    done <<<"$(faults dropped)"
}

# same_last BYTES SUBSCRIBER…: what came to them last is the file's first.
same_last() {
    local size=$1 expected n
    shift
    expected=$(head -c "$size" "$file" | sha256sum)
    for n in "$@"; do
        [ "$(tail -c "$size" "out$n" | sha256sum)" = "$expected" ] || { say "subscriber $n has other bytes"; return 1; }
    done
    say "sha256 ${expected:0:16}… at $# subscribers"
}

# under BYTES FAULT…: published under a fault of every cable, which shows, everybody has it all, and has it right.
under() {
    local size=$1 taken all=0 shows='' before
    shift
    case $* in
        *duplicate*) shows=framecast_duplicate_datagrams_total ;;
        *reorder*) shows=framecast_reassembled_bytes_total ;;
    esac
    [ -z "$shows" ] || summed "$shows" || return
    before=$all
    faults "$@" || return
    publish "$size" && arrives 1 2 3 || { faults restore; return 1; }
    lost
    faults restore
    [[ $* != *loss* || $taken -gt 0 ]] || { say 'no datagram was lost'; return 1; }
    same_last "$size" 1 2 3 >same || { cat same; return 1; }
    [ -z "$shows" ] || summed "$shows" || return
    say "$size bytes, $taken packets lost on the way${shows:+, $shows + $((all - before))}, $(cat same)"
    [ -z "$shows" ] || [ "$all" -gt "$before" ]
}

# count_one_sided: sets what was done one-sided, at the source and, summed, at all subscribers, and what was not.
count_one_sided() {
    local n sum
    written=0 pulled=0 why=
    read_metrics 0 || return
    add_up framecast_linked_members && linked=$sum
    add_up framecast_one_sided_fallbacks_total && fallbacks=$sum
    reasons
    add_up framecast_read_grants_total && granted=$sum
    add_up framecast_credit_datagrams_total && by_datagram=$sum
    add_up framecast_sent_repairs_total && repairs=$sum
    add_up framecast_received_nacks_total && nacks=$sum
    for n in 1 2 3; do
        read_metrics "$n" || return
        add_up framecast_written_grants_total && written=$((written + sum))
        add_up framecast_pulled_datagrams_total && pulled=$((pulled + sum))
        add_up framecast_one_sided_fallbacks_total && fallbacks=$((fallbacks + sum))
        reasons
    done
    counts="$linked linked, $written grants written, $granted read, $by_datagram granted by datagram; $pulled datagrams pulled,"
    counts+=" $repairs sent again for $nacks NACKs, $fallbacks fallbacks${why:+:}$why"
}

# reasons: adds to `why` each reason that the process read last has counted.
reasons() {
    local line
    for line in "${metrics[@]}"; do
        [[ ! $line =~ ^framecast_one_sided_fallbacks_total.*reason=\"([a-z_]+)\".*\ ([1-9][0-9]*) ]] ||
            why+=" ${BASH_REMATCH[1]} ${BASH_REMATCH[2]}"
    done
}

# Every connection stands, or is counted as one that could not be made.
is_settled() {
    local links
    read_metrics 0 && add_up framecast_linked_members && links=$sum &&
        add_up framecast_one_sided_fallbacks_total '"link"' && [ $((links + sum)) -ge 3 ]
}

# From here on NACKs and credit by datagram are exceptions.
connected() {
    eventually is_settled || { say 'neither made nor refused'; return 1; }
    count_one_sided || return
    nacks_before=$nacks by_datagram_before=$by_datagram repairs_before=$repairs
    say "$counts"
    [ "$linked" -gt 0 ]
}

# Words are written and read; datagrams grant no more than words do, unless writing was slow, or one has no connection.
granted_by_words() {
    publish "$PIECE_BYTES" && arrives 1 2 3 && count_one_sided || return
    say "$counts"
    [ "$written" -gt 0 ] && [ "$granted" -gt 0 ] && { [ $((by_datagram - by_datagram_before)) -le "$written" ] || [ "$fallbacks" -gt 0 ]; }
}


# Receivers read lost datagrams of the group, and count the reason where they ask the source for one.
pulled_by_reads() {
    local try
    for try in 1 2 3; do
        under "$PIECE_BYTES" group loss 5% && count_one_sided || return
        [ "$pulled" -eq 0 ] || break
        say "$counts"
    done
    [ "$pulled" -gt 0 ] || return
    say "$counts"
    # One without a connection asks for all by NACK; others for what was read too late.
    [[ $why == *' link '* ]] ||
        { [ $((nacks - nacks_before)) -le "$fallbacks" ] && [ $((2 * (repairs - repairs_before))) -le "$pulled" ]; }
}

# count_copies: sets what was written into the co-root's copy and read out of it, and what was read under guard.
count_copies() {
    local n sum
    fed=0 taken_up=0 owned=0 set_pulled=0 guarded=0
    read_metrics 0 || return
    add_up framecast_feed_written_datagrams_total && fed=$sum
    for n in 1 2 3; do
        read_metrics "$n" || return
        add_up framecast_feed_taken_datagrams_total && taken_up=$((taken_up + sum))
        add_up framecast_own_repairs_total && owned=$((owned + sum))
        add_up framecast_set_pulled_datagrams_total && set_pulled=$((set_pulled + sum))
    done
    add_up framecast_pulled_datagrams_total && guarded=$sum
    counts="$fed datagrams written into the co-root's copy, $taken_up found there, $owned taken by itself,"
    counts+=" $set_pulled read by its member; $guarded read under guard by one who is not waited for"
}

# Subscriber 3 is not waited for, and may lack frames.
written_into_copies() {
    local taken try
    eventually is_settled || { say "neither made nor refused; subscriber 3 said: $(tail -n 2 said3)"; return 1; }
    for try in 1 2 3 4; do
        faults group loss 5% || return
        publish "$PIECE_BYTES" && arrives 1 2 || { faults restore; return 1; }
        lost
        faults restore
        count_copies || return
        say "$counts"
        [ "$owned" -eq 0 ] || [ "$set_pulled" -eq 0 ] || [ "$guarded" -eq 0 ] || break
    done
    same_last "$PIECE_BYTES" 1 2 >same || { cat same; return 1; }
    say "$counts; $taken packets lost on the way at last, $(cat same)"
    [ "$fed" -gt 0 ] && [ "$taken_up" -gt 0 ] && [ "$owned" -gt 0 ] && [ "$set_pulled" -gt 0 ] && [ "$guarded" -gt 0 ]
}

# frames_of FILE…: checksums of the frames in them, each once.
frames_of() {
    cat -- "$@" | split -b "$FRAME_BYTES" --filter=sha256sum | sort -u
}

# Whatever subscriber N has is a frame that was published.
only_published() {
    local strange
    head -c "$PIECE_BYTES" "$file" >piece
    strange=$(comm -13 <(frames_of piece) <(frames_of "out$1") | wc -l)
    say "$(($(stat -c %s "out$1") / FRAME_BYTES)) of $((published / FRAME_BYTES)) frames, $strange of them strange"
    [ "$strange" = 0 ]
}

# summed NAME: sets `all` to a counter of all subscribers.
summed() {
    local n sum
    all=0
    for n in 1 2 3; do
        read_metrics "$n" && add_up "$1" || return
        all=$((all + sum))
    done
}

# Every frame of all that was published is there, wherever it lies.
delivered() {
    summed framecast_delivered_frames_total && [ "$all" -ge $((3 * published / FRAME_BYTES)) ]
}

# Each frame lies where it arrived first, and none was copied. The kernel reorders datagrams where a sender moves between
# CPUs, which copies a frame; it does not so each time.
in_place() {
    local try all frames before copied
    for try in 1 2 3; do
        # The first time they are just starting.
        eventually summed framecast_in_place_frames_total || { say 'a subscriber serves no metrics'; return 1; }
        frames=$all
        summed framecast_reassembled_bytes_total || return
        before=$all
        publish "$bytes" && arrives 1 2 3 && eventually delivered || return
        summed framecast_in_place_frames_total && frames=$((all - frames)) &&
            summed framecast_reassembled_bytes_total || return
        copied=$((all - before))
        say "$frames of $((3 * bytes / FRAME_BYTES)) frames in place at three subscribers, $copied bytes reassembled (try $try)"
        [ "$frames" -lt $((3 * bytes / FRAME_BYTES)) ] || [ "$copied" != 0 ] || return 0
    done
    return 1
}

# stands_still BEFORE: more than so much came to subscriber 1, then nothing for four seconds, and it has not all; long
# before alive-timeout.
stands_still() {
    local try had has same=0
    has=$(stat -c %s out1)
    for try in 1 2 3 4 5 6; do
        had=$has
        sleep 2
        has=$(stat -c %s out1)
        same=$((has == had && has > $1 ? same + 1 : 0))
        [ "$same" -lt 2 ] || [ "$has" -ge "$published" ] || return 0
    done
    return 1
}

# The source's credit ends where its receives do: what is published meanwhile waits, and nothing is lost or asked for.
starved() {
    local writer before begin arrived=$published
    count_one_sided && before="$pulled datagrams pulled, $nacks NACKs" || return
    begin=$SECONDS
    kill -STOP "${pid[2]}"
    pieces+=("$bytes")
    published=$((published + bytes))
    head -c "$bytes" "$file" >&5 &
    writer=$!
    stands_still "$arrived" || arrived=
    begin=$((SECONDS - begin))
    kill -CONT "${pid[2]}"
    arrives 1 2 3 && wait "$writer" && count_one_sided || return
    # The source may send again by itself what it waits for an answer to.
    say "$bytes bytes published while subscriber 2 stood still for $begin s, and with it the others; $pulled datagrams pulled, $nacks NACKs, before it" \
        "$before; $repairs sent again"
    [ -n "$arrived" ] || { say 'subscriber 1 went on without subscriber 2'; return 1; }
    [ "$before" = "$pulled datagrams pulled, $nacks NACKs" ]
}

cut_briefly() {
    local writer port
    "$here/netem.sh" rxe3 cut || return
    pieces+=("$bytes")
    published=$((published + bytes))
    head -c "$bytes" "$file" >&5 &
    writer=$!
    sleep 6
    port=$(</sys/class/infiniband/rxe3/ports/1/state)
    "$here/netem.sh" rxe3 restore || return
    # Whether a queue pair fails meanwhile is up to what its process happens to send.
    arrives 1 2 3 && wait "$writer" && evicted 0 &&
        say "$bytes bytes published while the cable of subscriber 2 was out for 6 s, none evicted;" \
            "$(metric 2 framecast_system_errors_total) failures survived there" && [[ $port == *DOWN* ]]
}

evicted() {
    [ "$(metric 0 framecast_evictions_total)" = "$1" ]
}

cut_for_long() {
    "$here/netem.sh" rxe4 cut || return
    publish "$PIECE_BYTES"
    eventually evicted 1 || { say 'no subscriber was evicted'; return 1; }
    "$here/netem.sh" rxe4 restore
    arrives 1 2 && ends 3 3 'source lost'
}

# What N has is what was published.
same() {
    local piece expected
    expected=$(for piece in "${pieces[@]}"; do head -c "$piece" "$file"; done | sha256sum)
    [ "$(sha256sum <"out$1")" = "$expected" ] && say "$published bytes, sha256 ${expected:0:16}…"
}

has_device() {
    rdma link | grep "^link $1/" >/dev/null
}

# Up to some version Soft-RoCE lets a device go only when no process uses it any more; then nothing happens until that.
device_deleted() {
    rdma link delete rxe3 >/dev/null 2>&1 &
    eventually not has_device rxe3 || { say 'rxe3 is still there'; return 1; }
    publish "$PIECE_BYTES"
    arrives 1 || return
    if alive 2; then
        arrives 2 && say 'this kernel waits for those who use it, and they go on'
    else
        ends 2 2 "$GONE"
    fi
}

# The network interface goes, as when a card is pulled out, and with it the device. For whom it was the own one, that is
# a failure of this machine (status 2); for others, a peer that was lost (status 3).
pulled_at_subscriber() {
    ip link delete ve3 &
    publish "$PIECE_BYTES"
    arrives 1 && { [ "$deleted" = 1 ] || ends 2 2 "$GONE"; }
}

pulled_at_source() {
    ip link delete ve1 &
    timeout 30 head -c "$PIECE_BYTES" "$file" >&5 || :
    ends 1 3 'source lost' && ends 0 2 "$GONE"
}

# A co-root whose replica the source writes, a member of its repair group, and a member that the source does not wait for.
copies() {
    local n
    begin '|co-roots=1|feed=unicast' '|delivery=deadline=60s'
    check 'a feed into a co-root'"'"'s copy, and reads under guard' written_into_copies
    exec 5>&-
    check 'the end at the source that feeds' ends 0 0 ''
    for n in 1 2; do
        check "the end at subscriber $n" ends "$n" 0 ''
        check "the bytes of subscriber $n" same "$n"
    done
    check 'the end at one who is not waited for' ends 3 0 ''
    check 'its frames' only_published 3
}

# leader: prints the subscriber that leads.
leader() {
    grep -l 'leads the subscribers' said1 said2 said3 | tr -d a-z
}

# Three subscribers of one device are one member, and one of them has receives.
once_for_all() {
    local n first datagrams=()
    publish "$bytes" && arrives 1 2 3 || return
    first=$(leader)
    for n in 1 2 3; do
        datagrams+=("$(metric "$n" framecast_received_datagrams_total '"data"')") || return
    done
    say "subscriber $first leads; datagrams received: ${datagrams[*]:-none}"
    [[ $first =~ ^[123]$ ]] || return
    for n in 1 2 3; do
        [ "$((datagrams[n - 1] > 0))" = "$((n == first))" ] || return
    done
}

# The leader is killed, and its followers have every frame that is published then.
led_anew() {
    local killed others=()
    killed=$(leader)
    others=($(printf '%s\n' 1 2 3 | grep -v "$killed"))
    kill -KILL "${pid[$killed]}"
    wait "${pid[$killed]}" 2>/dev/null || :
    publish "$PIECE_BYTES" && arrives "${others[@]}" && evicted 0 || return
    say "subscriber $killed was killed, another leads; none evicted"
}

# Subscribers that share what one of them receives. It must not stand still for as long as an emulated JVM may, nor lose
# its membership while another JVM takes over.
host_group() {
    local killed n ALIVE_MS=60000 PATIENCE_S=300
    begin '' '' 'rxe2|host-group=auto|attach-after=60s'
    check 'three of one host, received once' once_for_all
    killed=$(leader)
    check 'the one that receives is killed' led_anew
    exec 5>&-
    check 'the end at its source' ends 0 0 ''
    for n in 1 2 3; do
        [ "$n" = "$killed" ] || check "the bytes of subscriber $n" same "$n"
    done
    for n in 1 2 3; do
        [ "$n" = "$killed" ] || ends "$n" 0 '' >/dev/null || :
    done
}

# placed N WAY: the frames of subscriber N came to its device that way.
placed() {
    local line
    line=$(grep -o '"placement": {[^}]*' "json$1") || { say "no placement in $(cat "json$1")"; return 1; }
    say "$line"
    [[ $line == *"\"$2\""* ]]
}

# All that was published was sent from where it lies in device memory.
gathered() {
    local sum bytes
    read_metrics 0 && add_up framecast_gathered_bytes_total && bytes=$sum && add_up framecast_copied_out_bytes_total || return
    say "$bytes of $published bytes sent from device memory, $sum copied to the host; $(grep -o 'source memory: .*' said0 | tail -n 1)"
    [ "$bytes" = "$published" ] && [ "$sum" = 0 ]
}

# posted N: frames of subscriber N lie in the buffers that it posted.
posted() {
    local line
    line=$(grep -o '"in_place_frames": [0-9]*, "posted_frames": [0-9]*, "reassembled_bytes": [0-9]*' "json$1") ||
        { say "no posted frames in $(cat "json$1")"; return 1; }
    say "$line"
    [[ $line != *'"posted_frames": 0'* ]]
}

# From the memory of an emulated GPU into that of others, which devices know by address: written there by two of them,
# copied there by the third. All post buffers, more of them than frames fit the ring.
direct() {
    local device='emulated:0?peermem' keys="|frame-max=$FRAME_BYTES" options=(--post 64) n
    local source_options=(--device "$device")
    begin '|gather-max=1m' '|placement=loopback'
    check '10 MB of device memory into posted buffers, in place' in_place
    check 'loss 5 % on the way into device memory' under "$PIECE_BYTES" loss 5%
    check 'the source, from device memory' gathered
    exec 5>&-
    check 'the end at its source' ends 0 0 ''
    for n in 1 2 3; do
        check "the end at subscriber $n" ends "$n" 0 ''
        check "the bytes of subscriber $n" same "$n"
        check "the posted buffers of subscriber $n" posted "$n"
    done
    check 'the way of subscriber 1' placed 1 direct
    check 'the way of subscriber 2' placed 2 direct
    check 'the way of subscriber 3' placed 3 loopback
}

# co_root: prints the subscriber that serves another one.
co_root() {
    local n
    for n in 1 2 3; do
        [ "$(metric "$n" framecast_served_members)" = 0 ] || say "$n"
    done
}

# The co-root cannot read its own payloads: it has what the source writes into its replica, and repairs from there.
served_from_replica() {
    local taken try
    eventually is_settled || { say "neither made nor refused; subscriber 3 said: $(tail -n 2 said3)"; return 1; }
    for try in 1 2 3 4; do
        faults group loss 5% || return
        publish "$PIECE_BYTES" && arrives 1 2 3 || { faults restore; return 1; }
        lost
        faults restore
        count_copies || return
        say "$counts"
        [ "$taken_up" -eq 0 ] || [ "$((owned + set_pulled))" -eq 0 ] || break
    done
    same_last "$PIECE_BYTES" 1 2 3 >same || { cat same; return 1; }
    say "subscriber $(co_root) serves; $counts; $taken packets lost on the way at last, $(cat same)"
    [ "$taken_up" -gt 0 ] && [ "$((owned + set_pulled))" -gt 0 ]
}

# has_co_root: sets `killed` to the only co-root. One that was late is none for alive-timeout, so there may be none now.
has_co_root() {
    killed=$(co_root)
    [[ $killed =~ ^[123]$ ]]
}

# The co-root is killed; the source evicts it, and the others have all that is published meanwhile.
served_anew() {
    local killed others=()
    eventually has_co_root || { say "co-roots: ${killed:-none}"; return 1; }
    others=($(printf '%s\n' 1 2 3 | grep -v "$killed"))
    kill -KILL "${pid[$killed]}"
    wait "${pid[$killed]}" 2>/dev/null || :
    publish "$PIECE_BYTES" && arrives "${others[@]}" && eventually evicted 1 || return
    same_last "$PIECE_BYTES" "${others[@]}"
}

# Three subscribers of which a device writes all payloads into the memory of emulated GPUs; one is a co-root.
direct_set() {
    # Its last check waits for as long.
    local device='emulated:0?peermem' keys="|frame-max=$FRAME_BYTES" ALIVE_MS=12000
    begin '|co-roots=1'
    check 'a co-root whose payloads land in device memory' served_from_replica
    check 'it is killed' served_anew
    exec 5>&-
    check 'the end at its source' ends 0 3 '1 subscriber.s. were evicted'
}

one_sided() {
    check 'connections for credit and repair' connected
    check 'credit by words' granted_by_words
    check 'repair by reads' pulled_by_reads
}

loss() {
    check '10 MB, loss 1 %' under "$bytes" loss 1%
}

faults_to_cables() {
    check 'loss 5 %' under "$PIECE_BYTES" loss 5%
    check 'reordering' under "$PIECE_BYTES" delay 2ms reorder 25%
    check 'duplication' under "$PIECE_BYTES" duplicate 5%
    check 'delay' under "$PIECE_BYTES" delay 20ms
    check 'a subscriber that stands still' starved
    check 'a cable out for less than alive-timeout' cut_briefly
    check 'the bytes of subscriber 3, before it is cut off for good' same 3
    check 'a cable out for longer' cut_for_long
}

devices_gone() {
    check 'the bytes of subscriber 2, before its device goes' same 2
    check 'a device deleted at a subscriber' device_deleted
    alive 2 || deleted=1
    check 'a device pulled out at a subscriber' pulled_at_subscriber
    check 'the bytes of subscriber 1, before the source goes' same 1
    check 'a device pulled out at the source' pulled_at_source
}

# What everybody has who lives, and how they end where the source does.
end() {
    exec 5>&-
    check 'the end at the source' ends 0 "$1" "$2"
    shift 2
    for n; do
        check "the end at subscriber $n" ends "$n" 0 ''
        check "the bytes of subscriber $n" same "$n"
    done
}

# Every frame is compared at each receiver.
benched() {
    "$root/framecast" bench streaming --transport verbs --interface rxe1 --device host --background none --subscribers 2 \
        --against ring:rc --frame-bytes 256K --quick --json schemes.json
    # In a row with a failure there would be words.
    [ "$(grep -o '"failures": \[\]' schemes.json | wc -l)" = 2 ] || { cat schemes.json; return 1; }
    echo 'frames equal, by both'
}

schemes() {
    check 'multicast beside a ring over reliable connections' benched
}

parts=${FRAMECAST_LAB_STREAMS:-copies host_group direct direct_set schemes one_sided loss faults_to_cables devices_gone}
for part in copies host_group direct direct_set schemes; do
    if [[ $parts == "$part" || $parts == "$part "* ]]; then
        "$part"
        parts=${parts#"$part"} parts=${parts# }
    fi
done
[ -z "$parts" ] || begin
[ -z "$parts" ] || check 'a stream of three, 10 MB without loss, in place' in_place
for part in $parts; do
    "$part"
done
case $parts in
    # The source is gone.
    *devices_gone) ;;
    '') ;;
    *faults_to_cables) end 3 '1 subscriber.s. were evicted' 1 2 ;;
    *) end 0 '' 1 2 3 ;;
esac
say "$passed passed, $failed failed"
[ "$failed" = 0 ]
