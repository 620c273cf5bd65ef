#!/bin/sh
# Builds byte_sum.cu, with framecast.cuh, and gather.cu to the PTX resources beside them. Needs nvcc; the built files are
# committed, so users do not.
#
# nvcc writes the newest PTX version, which older drivers refuse, for the oldest GPU it knows, which leaves out older
# ones. Loads that acquire and nanosleep came with sm_70 and PTX 6.3, so the two lines say that; ptxas then checks it.
set -eu
cd "$(dirname "$0")"
resources=../resources/io/framecast/gpu

# build SOURCE OUT [HEADER]
build() {
    nvcc -ptx -arch=compute_75 "$1" -o "$2.tmp"
    {
        echo "// Built by build.sh from $1, sha256 $(sha256sum "$1" | cut -d ' ' -f 1)"
        if [ $# -eq 3 ]; then
            echo "// and $(basename "$3"), sha256 $(sha256sum "$3" | cut -d ' ' -f 1)"
        fi
        sed -e 's/^\.version .*/.version 6.3/' -e 's/^\.target .*/.target sm_70/' "$2.tmp"
    } > "$2"
    rm "$2.tmp"
    for arch in sm_75 sm_80 sm_90; do
        ptxas -arch="$arch" "$2" -o /dev/null
    done
}

build byte_sum.cu "$resources/arrival/byte_sum.ptx" "$resources/arrival/framecast.cuh"
build gather.cu "$resources/gather/gather.ptx"
