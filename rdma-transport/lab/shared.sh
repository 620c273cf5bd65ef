#!/usr/bin/env bash
# What a datagram costs where its receives lie in a shared receive queue, beside a queue pair's own, in C
# (native/multicast.c, with -s and without), rounds in turns in one guest with Soft-RoCE. One line for each payload:
# the medians in nanoseconds, and the median ratio of neighbours. On a device of this host where FRAMECAST_RDMA_DEVICE
# names it.
#
#   shared.sh [-n DATAGRAMS] [-r ROUNDS] [PAYLOAD-BYTES…]      default 1600 datagrams, 25 rounds, payloads 64 and 4056
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
datagrams=1600
# shellcheck source=rounds.sh
. "$here/rounds.sh"
# shellcheck disable=SC2016 # Expanded there.
"${lab[@]}" -c '
    set -euo pipefail
    datagrams=$1 rounds=$2 devices=$3
    shift 3
    cd -- "$(mktemp -d)"
    mkfifo own.in own.out shared.in shared.out
    # round FD-IN FD-OUT: prints the nanoseconds of one.
    round() {
        local line
        printf "\n" >&"$1"
        read -r line <&"$2"
        [[ $line =~ ,\ ([0-9]+)\ ns\ each ]] && printf "%s\n" "${BASH_REMATCH[1]}"
    }
    median() {
        sort -g | sed -n "$(((rounds + 1) / 2))p"
    }
    for payload; do
        options=(-i -p "$payload" -n "$datagrams" -r $((rounds + 1)))
        # Groups of their own, or each would hear the other.
        "$0" "${options[@]}" -g 239.77.1.2 $devices <own.in >own.out &
        first=$!
        "$0" "${options[@]}" -g 239.77.1.3 -s $devices <shared.in >shared.out &
        second=$!
        exec 5>own.in 6<own.out 7>shared.in 8<shared.out
        # The first round warms up.
        round 5 6 >/dev/null
        round 7 8 >/dev/null
        for ((i = 0; i < rounds; i++)); do
            own=$(round 5 6)
            shared=$(round 7 8)
            printf "%s %s\n" "$own" "$shared"
        done >rounds
        exec 5>&- 6<&- 7>&- 8<&-
        # A round in which something was lost is none.
        wait "$first"
        wait "$second"
        printf "%s bytes: own %s ns, shared %s ns, shared to own %s, %s rounds of %s datagrams\n" "$payload" \
            "$(cut -d " " -f 1 rounds | median)" "$(cut -d " " -f 2 rounds | median)" \
            "$(awk "{ printf \"%.3f\\n\", \$2 / \$1 }" rounds | median)" "$rounds" "$datagrams"
    done' "$("$here/native/build.sh")" "$datagrams" "$rounds" "$devices" "${payloads[@]}"
