#!/bin/sh
# Checks Framecast on this machine's GPU, with nothing but what lies beside this script and an NVIDIA driver.
#
#   verify.sh [--device cuda:N] [--quick] [--only STEP,…] [--step-seconds N] [--out DIR]
#
# Prints a table and writes verify.json, a JSON object of all that was found, to DIR (default: results, here). It is
# written anew when a step begins or ends: what was found stays if this is killed. --only runs some of doctor, stream,
# calls, tests, bench, litmus and demo, or one by its name (bench-arrival, tests-CudaArrivalTest); give each run a DIR of
# its own. A step that takes longer than N seconds (default: 300) is ended, and the others go on.
# Status: 0 all passed, 1 something failed or the device does not open, 2 wrong options, 77 no driver or no GPU here.
set -u
# No program of this system is called: there may be but a shell.
case $0 in
    */*) home=${0%/*} ;;
    *) home=. ;;
esac
home=$(cd -- "$home" && pwd -P) || exit 2
# Where container runtimes put the driver; libcuda finds its compiler of PTX there too.
LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}/usr/local/nvidia/lib64
# Streams beyond the default of 8 would share a queue with a persistent kernel, and wait behind it.
CUDA_DEVICE_MAX_CONNECTIONS=${CUDA_DEVICE_MAX_CONNECTIONS:-32}
export LD_LIBRARY_PATH CUDA_DEVICE_MAX_CONNECTIONS
class_path=$home/lib/*
for module in "$home"/tests/*; do
    class_path=$class_path:$module
done
exec "$home/runtime/bin/java" \
    --add-opens java.base/jdk.internal.misc=ALL-UNNAMED \
    --enable-native-access=ALL-UNNAMED \
    --sun-misc-unsafe-memory-access=allow \
    -XX:+UseSerialGC \
    -XX:-UsePerfData \
    -Duser.language=en -Duser.country=US \
    -cp "$class_path" io.framecast.perf.kit.KitMain --tests "$home/tests" "$@"
