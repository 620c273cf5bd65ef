#!/usr/bin/env bash
# Runs a command as root in a virtual machine that has RDMA devices, over the tree of this host, and ends with its exit
# status. The command sees every file of the host at its own path, and may write anywhere: what it writes is gone when it
# ends, but for the directory of -w. It has the directory and the FRAMECAST_…, JAVA_HOME and JAVA25_HOME that are here,
# and FRAMECAST_LAB=1. No network but that of its RDMA devices, standard input is empty.
#
#   run.sh [-c CPUS] [-m MEGABYTES] [-d DEVICES] [-u MTU] [-t SECONDS] [-w DIRECTORY] [--] COMMAND…
#
#   -c  CPUs of the guest, default 2           -m  its memory, default 4096
#   -d  RDMA devices rxe1…, default 3          -u  MTU of their network, default 9000
#   -t  limit of time, default 600             -w  a directory that the command may write to, for good
#
# Exit status 124 where the command ran out of time, 125 where the guest ended without one (its console is left in
# last/ in the lab's directory), 77 where this host cannot run a guest; each with one line on stderr.
#
# Under emulation the JVM crashes in what its second compiler made (docs/rdma.md): the guest switches it off for every JVM.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)

usage() {
    sed -n '/^#   run.sh/,/^# Exit/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" | sed '$d' >&2
    exit 2
}

fail() {
    printf 'lab: %s\n' "$2" >&2
    exit "$1"
}

BOOTS_MAX=3
BOOT_SECONDS_MAX=240
cpus=2 megabytes=4096 devices=3 mtu=9000 seconds=600 shared=
while getopts c:m:d:u:t:w: option; do
    case $option in
        c) cpus=$OPTARG ;;
        m) megabytes=$OPTARG ;;
        d) devices=$OPTARG ;;
        u) mtu=$OPTARG ;;
        t) seconds=$OPTARG ;;
        w) shared=$(cd -- "$OPTARG" && pwd) ;;
        *) usage ;;
    esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || usage
for number in "$cpus" "$megabytes" "$devices" "$mtu" "$seconds"; do
    [[ $number =~ ^[0-9]+$ ]] || usage
done

lab=$("$here/build.sh")
image=$lab/image
# No other run replaces the image while a guest runs on it.
exec 9<"$lab/lock"
flock -s 9
# What runs left behind that were killed.
for run in "$lab"/run.*; do
    pid=${run#"$lab"/run.}
    [ ! -d "$run" ] || [ -d "/proc/${pid%.*}" ] || rm -rf -- "$run"
done
run=$(mktemp -d "$lab/run.$$.XXXXXX")
qemu_pid= out_pid= err_pid=

# Whatever ends this script ends QEMU: a signal by this, SIGKILL by setpriv below.
clean() {
    trap '' TERM INT HUP
    if [ -n "$qemu_pid" ]; then
        kill -TERM "$qemu_pid" 2>/dev/null && wait "$qemu_pid" || :
    fi
    rm -rf -- "$lab/last"
    mv -T -- "$run" "$lab/last" 2>/dev/null || rm -rf -- "$run"
}
trap clean EXIT
trap 'exit 143' TERM HUP
trap 'exit 130' INT

# A /dev/kvm alone says little: on a host that is itself a guest without nested virtualization it may be there and
# emulate a kernel's every instruction, or give up in the middle of the boot.
accelerator=tcg,thread=multi cpu=max java_options='-XX:TieredStopAtLevel=1 -XX:CompileThresholdScaling=10'
if [ -w /dev/kvm ] && { [ -d /sys/module/kvm_intel ] || [ -d /sys/module/kvm_amd ]; }; then
    accelerator=kvm cpu=host java_options=
fi

{
    printf 'export HOME=/root LANG=C.UTF-8 FRAMECAST_LAB=1\n'
    printf 'export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n'
    for name in JAVA_HOME JAVA25_HOME ${!FRAMECAST_@}; do
        # The name of a device of this host says nothing there.
        [ -z "${!name:-}" ] || [ "$name" = FRAMECAST_RDMA_DEVICE ] || printf 'export %s=%q\n' "$name" "${!name}"
    done
    if [ -n "$java_options" ]; then
        printf 'export JDK_JAVA_OPTIONS=%q\n' "$java_options"
    fi
    # It was built on the host; to look through the sources takes ten seconds here.
    printf 'export FRAMECAST_BUILD=skip\n'
    # Whatever the command may leave behind must not keep the ports open.
    printf 'ulimit -l unlimited\n'
    if [ "$devices" -gt 0 ]; then
        printf '%q %q %q || exit 1\n' "$here/guest/fabric.sh" "$devices" "$mtu"
    fi
    printf 'cd %q || exit 1\n' "$PWD"
    printf '%q ' "$@"
    printf '\n'
} >"$run/task"
cp -- "$here/guest/main" "$run/main"

# export_tree TAG DIRECTORY [OPTION]: of several file systems, so that the numbers of their files must be made different.
exports=()
export_tree() {
    local path=${2//,/,,}
    exports+=(-fsdev "local,id=$1,path=$path,security_model=none,multidevs=remap${3:-}"
        -device "virtio-9p-pci,fsdev=$1,mount_tag=$1")
}
export_tree host / ,readonly=on
export_tree packages "$image/guest" ,readonly=on
export_tree run "$run"
if [ -n "$shared" ]; then
    printf '%s\n' "$shared" >"$run/shared"
    export_tree shared "$shared"
fi

# Through pipes, for QEMU opens them anew, and a file would then be written from its start.
exec 3> >(exec cat)
out_pid=$!
exec 4> >(exec cat >&2)
err_pid=$!

# watch_boot PID: ends a guest that hangs before it runs anything; the slowest seen took half a minute.
watch_boot() {
    local half
    for ((half = 0; half < 2 * BOOT_SECONDS_MAX; half++)); do
        [ ! -e "$run/begun" ] && kill -0 "$1" 2>/dev/null || return 0
        sleep 0.5
    done
    kill -TERM "$1" 2>/dev/null || :
}

# boot SECONDS: until the guest ends; sets `status` to QEMU's.
# The death of this script ends timeout, and the death of timeout ends QEMU: each by its parent-death signal.
boot() {
    local share=$image/qemu/usr/share
    LD_LIBRARY_PATH=$image/qemu/usr/lib/x86_64-linux-gnu \
        setpriv --pdeathsig TERM timeout --kill-after=5 "$1" setpriv --pdeathsig KILL \
        "$image/qemu/usr/bin/qemu-system-x86_64" \
        -L "$share/qemu" -L "$share/seabios" -L "$image/qemu/usr/lib/ipxe/qemu" \
        -M q35 -accel "$accelerator" -cpu "$cpu" -smp "$cpus" -m "$megabytes" \
        -nodefaults -nic none -display none -no-reboot \
        -kernel "$image/vmlinux" -initrd "$image/initrd.gz" -append 'console=ttyS0 quiet oops=panic panic=-1' \
        -chardev "file,id=console,path=$run/console" -serial chardev:console \
        -device virtio-serial-pci \
        -chardev file,id=out,path=/dev/fd/3,append=on -device virtserialport,chardev=out,name=lab.out \
        -chardev file,id=err,path=/dev/fd/4,append=on -device virtserialport,chardev=err,name=lab.err \
        "${exports[@]}" </dev/null >"$run/qemu" 2>&1 &
    qemu_pid=$!
    status=0
    watch_boot "$qemu_pid" 3>&- 4>&- 9>&- &
    # The shell would tell of a killed process in lines of its own.
    { wait "$qemu_pid" || status=$?; } 2>/dev/null
    qemu_pid=
}

begin=$SECONDS
# Emulated CPUs now and then trip over code that the kernel changes while it boots (int3): nothing was run then.
for ((tries = 0; tries < BOOTS_MAX; tries++)); do
    left=$((seconds - (SECONDS - begin)))
    [ "$left" -gt 0 ] || break
    boot "$left"
    [ ! -e "$run/begun" ] || break
done
exec 3>&- 4>&-
wait "$out_pid" "$err_pid" || :

if [ -s "$run/status" ]; then
    exit "$(cat -- "$run/status")"
fi
if [ $((SECONDS - begin)) -ge "$seconds" ]; then
    fail 124 "the command still ran after $seconds s: the guest was stopped"
fi
said=$(cat -- "$run/qemu" "$run/console" 2>/dev/null | tr -d '\r')
reason=$(grep -m 1 -E 'panic|BUG|Oops|lab: ' <<<"$said" || tail -n 1 <<<"$said")
fail 125 "the guest ended without an exit status (QEMU: $status): ${reason:-it said nothing}; see $lab/last"
