#!/usr/bin/env bash
# Compiles multicast.c, with the headers and libraries of the lab, or with this host's where FRAMECAST_RDMA_DEVICE names
# a device of it. Prints the path of the program.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
flags=()
if [ -z "${FRAMECAST_RDMA_DEVICE:-}" ]; then
    usr=$("$here/../build.sh")/image/guest/usr
    flags=(-I"$usr/include" -L"$usr/lib/x86_64-linux-gnu" -Wl,-rpath-link,"$usr/lib/x86_64-linux-gnu")
fi
program=$here/../target/verify/multicast
mkdir -p "$(dirname -- "$program")"
gcc -std=gnu11 -O2 -Wall -Wextra -Werror "${flags[@]}" -o "$program.part" "$here/multicast.c" -libverbs
mv -- "$program.part" "$program"
realpath -- "$program"
