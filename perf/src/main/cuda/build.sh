#!/bin/sh
# Builds litmus.cu to the PTX resource beside the worker. Needs nvcc; the built file is committed, so users do not.
#
# nvcc writes the newest PTX version, which older drivers refuse, for the oldest GPU it knows, which leaves out older
# ones. The kernel uses nothing newer than CUDA 9 and sm_60, so the two lines say that; ptxas then checks that it is so.
set -eu
cd "$(dirname "$0")"
out=../resources/io/framecast/perf/litmus.ptx
nvcc -ptx -arch=compute_75 litmus.cu -o "$out.tmp"
{
    echo "// Built by build.sh from litmus.cu, sha256 $(sha256sum litmus.cu | cut -d ' ' -f 1)"
    sed -e 's/^\.version .*/.version 6.0/' -e 's/^\.target .*/.target sm_60/' "$out.tmp"
} > "$out"
rm "$out.tmp"
for arch in sm_75 sm_80 sm_90; do
    ptxas -arch="$arch" "$out" -o /dev/null
done
