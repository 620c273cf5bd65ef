#!/usr/bin/env bash
# Builds the kit for machines with a GPU, looks at its size, and starts it where there is no Java: with an empty
# environment and, where mount namespaces can be made, with the JDKs out of sight. Without a driver it must say so in one
# line and end as skipped; on the emulated device all of it must run. Ends with "N passed, N failed".
# Limit: 600 s
#
#   GPU_KIT_MAVEN   options of the build, such as -o
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

BYTES_MAX=60000000
archive=perf/target/gpu-kit/framecast-gpu-kit.tar.gz
. .ci/cases.sh
# To build the kit alone takes three minutes.
if is_few; then
    leave_out 'the GPU kit' 'not among the few of .ci/run'
    end_cases
fi

verdict() {
    if [ "$1" = 0 ]; then
        pass "$2"
    else
        fail_case "$2"
    fi
}

perf/gpu/verify.sh --build-only
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
trap 'exit 143' TERM HUP
trap 'exit 130' INT

bytes=$(stat -c %s "$archive")
verdict "$((bytes >= BYTES_MAX))" "archive of $bytes bytes, fewer than $BYTES_MAX"
tar -xzf "$archive" -C "$work"

# without_java ARGUMENT…: the kit's script in a shell that finds no program at all.
if unshare -m true 2>/dev/null; then
    without_java() {
        # shellcheck disable=SC2016 # expanded inside
        unshare -m /bin/sh -c '
            for folder in /usr/lib/jvm /opt; do
                [ ! -d "$folder" ] || mount -t tmpfs none "$folder" || exit 99
            done
            exec env -i PATH=/nonexistent /bin/sh "$@"' - "$work/framecast-gpu-kit/verify.sh" "$@"
    }
else
    printf 'no mount namespaces here: JDKs stay in sight, but PATH is empty\n'
    without_java() {
        env -i PATH=/nonexistent /bin/sh "$work/framecast-gpu-kit/verify.sh" "$@"
    }
fi

on_emulated() {
    local text status=0
    without_java --device emulated:0 --quick --out "$work/emulated" >"$work/said" 2>&1 || status=$?
    sed 's/^/    /' "$work/said"
    verdict "$status" 'all of the kit on the emulated device, without Java'
    grep -q '"hardware": "hardware: emulated:0, ' "$work/emulated/verify.json" || status=1
    verdict "$status" 'results say that the device is emulated'
    for text in '"complete": true' '"commit": "[0-9a-f]' '"name": "doctor"' '"name": "litmus"' '"name": "stream on host"'; do
        grep -q "$text" "$work/emulated/verify.json" || status=1
    done
    verdict "$status" 'results say of which commit, that all was run, and hold doctor, litmus and the stream on the host'
}

on_emulated

status=0
without_java --quick --out "$work/cuda" >"$work/said" 2>&1 || status=$?
sed 's/^/    /' "$work/said"
if [ "$status" = 77 ]; then
    [ "$(wc -l <"$work/said")" = 1 ] && grep -q '^skipped: cuda:0 cannot be used here: ' "$work/said" || status=1
    [ ! -e "$work/cuda" ] || status=1
    verdict "$((status != 77))" 'one clear line, status 77 and no results where there is no driver'
else
    verdict "$status" 'all of the kit on cuda:0'
fi

end_cases
