#!/usr/bin/env bash
# What a datagram costs through the transport's lanes beside the same work in C (native/multicast.c), both in one guest
# with Soft-RoCE, in turns: multicast from one device to two others, into scatter lists, every byte looked at. One line
# for each payload. Under emulation only the ratio says something. On a device of this host where
# FRAMECAST_RDMA_DEVICE names it.
#
#   floor.sh [-n DATAGRAMS] [-r ROUNDS] [PAYLOAD-BYTES…]      default 4000 datagrams, 25 rounds, payloads 64 and 4056
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
datagrams=4000
# shellcheck source=rounds.sh
. "$here/rounds.sh"
java=${JAVA25_HOME:-${JAVA_HOME:?set JAVA25_HOME to a JDK 25}}/bin/java

program=$("$here/native/build.sh")
class_path=$("$here/classpath.sh" rdma-transport)
# shellcheck disable=SC2016 # Expanded there.
"${lab[@]}" -c '
    class_path=$1 devices=$2 datagrams=$3 rounds=$4 program=$5
    shift 5
    for payload; do
        "$0" --add-opens java.base/jdk.internal.misc=ALL-UNNAMED --enable-native-access=ALL-UNNAMED -XX:+UseSerialGC \
            -cp "$class_path" io.framecast.rdma.LaneFloor "$program" "$payload" "$datagrams" "$rounds" $devices || exit
    done' "$java" "$class_path" "$devices" "$datagrams" "$rounds" "$program" "${payloads[@]}"
