#!/bin/sh
# Checks Framecast on this machine's GPU, with nothing but what lies beside this script and an NVIDIA driver.
#
#   verify.sh [--device cuda:N] [--quick] [--out DIR]
#
# Prints a table and writes verify.json, a JSON object of all that was found, to DIR (default: results, here).
# Status: 0 all passed, 1 something failed, 2 wrong options, 77 there is no driver or no GPU here.
set -u
# No program of this system is called: there may be but a shell.
case $0 in
    */*) home=${0%/*} ;;
    *) home=. ;;
esac
home=$(cd -- "$home" && pwd -P) || exit 2
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
