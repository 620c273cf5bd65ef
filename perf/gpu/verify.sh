#!/usr/bin/env bash
# Builds the GPU kit: one archive with a Java runtime, Framecast, its tests and its kernels, for a Linux machine that has
# an NVIDIA driver and nothing else. Then runs it here, as it would be there.
#
#   perf/gpu/verify.sh [--build-only | OPTION…]
#
# Options are the kit's: --device cuda:N, --quick, --only STEP,…, --step-seconds N, --out DIR; kit.sh says what they do.
#
# The archive is perf/target/gpu-kit/framecast-gpu-kit.tar.gz; there:
#   tar xzf framecast-gpu-kit.tar.gz && framecast-gpu-kit/verify.sh
# Ends with the kit's status: 0 all passed, 1 something failed or the device does not open, 2 wrong options, 77 there is
# no driver or no GPU.
set -euo pipefail

here=$(pwd)
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
root=$(pwd)
. .mvn/jdk.sh
work=$root/perf/target/gpu-kit
name=framecast-gpu-kit
# What Framecast needs (all but java.desktop, which draws plots), its libraries and JUnit.
modules=java.base,java.logging,java.management,java.xml,jdk.httpserver,jdk.jfr,jdk.management,jdk.net,jdk.unsupported

say() {
    printf 'gpu kit: %s\n' "$1" >&2
}

# A class of Framecast whose module is not in the runtime would be missed on the GPU machine only.
check_modules() {
    local jdk=$1 lib=$2 needed module
    needed=$("$jdk/bin/jdeps" --ignore-missing-deps --multi-release 25 --no-recursive --print-module-deps \
        --class-path "$lib/*" "$lib"/framecast-*.jar)
    for module in ${needed//,/ }; do
        case ",$modules,java.desktop," in
            *",$module,"*) ;;
            *)
                say "the runtime lacks module $module: add it to modules in perf/gpu/verify.sh"
                return 1
                ;;
        esac
    done
}

build() {
    local jdk module
    find_jdk || { say "$(jdk_missing)"; return 2; }
    say 'building'
    # shellcheck disable=SC2086 # GPU_KIT_MAVEN is a list of words, such as -o
    ./mvnw -q ${GPU_KIT_MAVEN:-} -DskipTests -Pgpu-kit -pl perf -am package </dev/null >&2
    rm -rf -- "${work:?}/$name" "$work/$name.tar.gz"
    mkdir -p "$work/$name/lib" "$work/$name/tests"
    "$jdk/bin/jlink" --add-modules "$modules" --strip-debug --no-header-files --no-man-pages \
        --output "$work/$name/runtime"
    cp -- samples/target/framecast-samples.jar samples/target/lib/*.jar perf/target/framecast-perf.jar \
        perf/target/lib/*.jar "$work/junit"/*.jar "$work/$name/lib/"
    check_modules "$jdk" "$work/$name/lib"
    for module in */target/test-classes; do
        cp -r -- "$module" "$work/$name/tests/${module%%/*}"
    done
    cp -- perf/gpu/kit.sh "$work/$name/verify.sh"
    cp -- LICENSE "$work/$name/"
    chmod +x "$work/$name/verify.sh"
    git rev-parse HEAD >"$work/$name/commit" 2>/dev/null || printf 'unknown\n' >"$work/$name/commit"
    tar -C "$work" -czf "$work/$name.tar.gz" --owner=0 --group=0 --sort=name "$name"
    say "$(du -m "$work/$name.tar.gz" | cut -f 1) MB in $work/$name.tar.gz"
}

build
[ "${1:-}" != --build-only ] || exit 0
cd -- "$here"
exec "$work/$name/verify.sh" "$@"
