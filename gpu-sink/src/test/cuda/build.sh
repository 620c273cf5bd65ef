#!/bin/sh
# Builds contract_add.cu to PTX, as samples/src/main/cuda/build.sh does: for drivers from CUDA 9 on and GPUs from sm_60 on.
set -eu
cd "$(dirname "$0")"
out=../resources/io/framecast/gpu/contract_add.ptx
nvcc -ptx -arch=compute_75 contract_add.cu -o "$out.tmp"
{
    echo "// Built by build.sh from contract_add.cu, sha256 $(sha256sum contract_add.cu | cut -d ' ' -f 1)"
    sed -e 's/^\.version .*/.version 6.0/' -e 's/^\.target .*/.target sm_60/' "$out.tmp"
} > "$out"
rm "$out.tmp"
ptxas -arch=sm_75 "$out" -o /dev/null
