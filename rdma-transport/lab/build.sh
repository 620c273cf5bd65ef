#!/usr/bin/env bash
# Makes the lab: QEMU, a Debian kernel with Soft-RoCE, the verbs libraries and a small initrd, in one directory. Nothing
# is installed on the host: packages are downloaded and unpacked there, which needs no root. Prints the directory's
# path on stdout, what it does on stderr. Where it was made before it only prints. Needs Debian 12 or newer on x86-64.
#
#   FRAMECAST_LAB_DIR   where, default: target beside this script (about 400 MB)
#
# Exit status 77 and one line on stderr where this host cannot have a lab.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
lab=${FRAMECAST_LAB_DIR:-$here/target}

# Not rdma-core: nothing here needs it, and it brings udev and systemd.
GUEST_PACKAGES=(libibverbs1 libibverbs-dev ibverbs-providers librdmacm1 librdmacm-dev libibumad3 libnl-3-200
    libnl-route-3-200 rdmacm-utils ibverbs-utils perftest iproute2 kmod libkmod2 busybox-static)
QEMU_PACKAGES=(qemu-system-x86)
# Debian 12 has 6.12 beside its own 6.1, and 6.12 has udmabuf; newer releases have only one.
KERNELS=(linux-image-6.12-amd64 linux-image-amd64)
# What unpacks the kernel; zstd is no part of a small Debian.
TOOL_PACKAGES=(zstd)
# What of the kernel's modules is kept: the rest is 4000 files that nothing here can use.
MODULES=(arch crypto lib net fs/9p fs/netfs fs/fscache fs/overlayfs fs/configfs drivers/infiniband/core
    drivers/infiniband/sw drivers/virtio drivers/dma-buf drivers/crypto/virtio drivers/net/veth.ko drivers/net/dummy.ko)
# To mount the host's tree; those that are built in are no files and are passed over.
BOOT_MODULES=(virtio_pci virtio_console 9pnet_virtio 9p overlay)

say() {
    printf 'lab: %s\n' "$1" >&2
}

unable() {
    say "$1"
    exit 77
}

# apt with lists and archives of its own, so that it works for everybody and touches nothing of the host's. What the
# host has installed counts as there: the guest sees the host's tree.
apt() {
    local command=$1
    shift
    "$command" -qq -o Dir::State="$lab/apt/state" -o Dir::State::status=/var/lib/dpkg/status \
        -o Dir::Cache="$lab/apt/cache" -o APT::Sandbox::User=root -o Acquire::Retries=3 \
        -o Acquire::http::Timeout=30 -o Acquire::Languages=none "$@"
}

# The packages among the arguments, and those they need that the host lacks.
with_dependencies() {
    printf '%s\n' "$@"
    apt apt-get --print-uris -y install --no-install-recommends "$@" | sed -n "s/^'[^']*' \([^_]*\)_.*/\1/p"
}

# Lists are as old as what was downloaded by them: they are renewed where something is to be downloaded, once.
updated=0
update() {
    [ "$updated" = 0 ] || return 0
    mkdir -p "$lab/apt/state/lists/partial" "$lab/apt/cache/archives/partial"
    apt apt-get update --error-on=any || unable 'apt-get cannot update its lists: is there a network?'
    updated=1
}

# fetch DIRECTORY PACKAGE…: the directory exists only when all are there and apt has checked their sums.
fetch() {
    local directory=$1
    shift
    rm -rf -- "$directory.part"
    mkdir -p "$directory.part"
    (cd -- "$directory.part" && apt apt-get download "$@") || unable "apt-get cannot download $*"
    mv -T -- "$directory.part" "$directory"
}

# download NAME PACKAGE…: sets debs[NAME]; another list makes another directory.
declare -A debs
download() {
    local name=$1 packages
    shift
    debs[$name]=$lab/debs/$name-$(printf '%s ' "$@" | sha256sum | cut -c1-8)
    [ ! -d "${debs[$name]}" ] || return 0
    update
    say "downloading $name"
    packages=$(with_dependencies "$@") || unable "apt-get knows no way to install $*"
    mapfile -t packages < <(sort -u <<<"$packages")
    fetch "${debs[$name]}" "${packages[@]}"
}

# Without its dependencies, which are there to install it.
download_kernel() {
    local package
    debs[kernel]=$lab/debs/kernel
    [ ! -d "${debs[kernel]}" ] || return 0
    update
    package=$(kernel_package) || unable "apt knows none of ${KERNELS[*]}: the lab needs Debian 12 or newer"
    say "downloading $package"
    fetch "${debs[kernel]}" "$package"
}

kernel_package() {
    local name found
    for name in "${KERNELS[@]}"; do
        found=$(apt apt-cache depends "$name" 2>/dev/null | sed -n 's/^ *Depends: \(linux-image-.*\)/\1/p') || continue
        if [ -n "$found" ]; then
            printf '%s\n' "${found%%$'\n'*}"
            return
        fi
    done
    return 1
}

# unpack NAME DIRECTORY
unpack() {
    local deb top
    mkdir -p "$2/usr"
    for deb in "${debs[$1]}"/*.deb; do
        dpkg-deb -x "$deb" "$2"
    done
    # Packages may still hold /lib, which the host has as a symbolic link to usr/lib: laid over the host's tree, a
    # directory of that name would hide everything that is behind the link.
    for top in lib bin sbin lib64; do
        [ -e "$2/$top" ] || continue
        cp -a --link "$2/$top" "$2/usr/"
        rm -rf -- "${2:?}/$top"
    done
}

# The ELF image inside a bzImage: emulated, the kernel's own decompressor takes many times as long as the boot.
extract_kernel() {
    local how magic command offset
    for how in '\x28\xB5\x2F\xFD zstd' '\xFD7zXZ\x00 unxz'; do
        read -r magic command <<<"$how"
        while IFS= read -r offset; do
            # Behind the compressed stream there is more, of which the tools complain.
            tail -c +$((offset + 1)) "$1" | "$command" -dc >"$2" 2>/dev/null || :
            [ "$(head -c 4 "$2" | tail -c 3)" != ELF ] || return 0
        done < <(LC_ALL=C grep -aboP "$magic" "$1" | cut -d: -f1)
    done
    return 1
}

# make_modules KERNEL-TREE GUEST-TREE: keeps what the guest may load, and writes modules.dep, which packages lack.
make_modules() {
    local from=$1/usr/lib/modules/$release to=$2/usr/lib/modules/$release part path
    mkdir -p "$to/kernel"
    for part in "${MODULES[@]}"; do
        for path in "$from/kernel/$part"*; do
            [ -e "$path" ] || continue
            mkdir -p "$(dirname -- "$to/kernel/$part")"
            cp -a --link "$path" "$(dirname -- "$to/kernel/$part")/"
        done
    done
    cp -a --link "$from"/modules.{builtin,builtin.modinfo,order} "$to/"
    # kmod is one program that looks at its name; it looks for lib/modules below the directory it is given.
    mkdir "$image/depmod"
    ln -s "$2/usr/bin/kmod" "$image/depmod/depmod"
    ln -s "$2/usr/lib" "$image/depmod/lib"
    LD_LIBRARY_PATH=$2/usr/lib/x86_64-linux-gnu "$image/depmod/depmod" -b "$image/depmod" "$release"
    rm -r -- "$image/depmod"
}

# make_initrd GUEST-TREE FILE: busybox, the modules in the order to load them, and the script that mounts and goes on.
make_initrd() {
    local modules=$1/usr/lib/modules/$release root=$image/initrd module line path name
    mkdir -p "$root/bin" "$root/modules"
    cp -- "$busybox" "$root/bin/busybox"
    cp -- "$here/guest/init" "$root/init"
    chmod 755 "$root/init"
    for module in "${BOOT_MODULES[@]}"; do
        line=$(grep -E "/$module\.ko[^:]*:" "$modules/modules.dep") || continue
        # First those it needs, the last one first.
        for path in $(tr ' ' '\n' <<<"${line#*:}" | tac) "${line%%:*}"; do
            name=$(basename -- "$path" .xz)
            [ ! -e "$root/modules/$name" ] || continue
            case $path in
                *.xz) unxz -c "$modules/$path" >"$root/modules/$name" ;;
                *) cp -- "$modules/$path" "$root/modules/$name" ;;
            esac
            printf '%s\n' "$name" >>"$root/modules/order"
        done
    done
    (cd -- "$root" && find . | "$busybox" cpio -o -H newc 2>/dev/null | gzip -1) >"$2"
    rm -r -- "$root"
}

make_image() {
    local kernel
    say 'unpacking'
    rm -rf -- "$image"
    mkdir -p "$image"
    unpack qemu "$image/qemu"
    unpack guest "$image/guest"
    unpack tools "$image/tools"
    unpack kernel "$image/kernel"
    kernel=$(basename -- "$(find "$image/kernel/boot" -name 'vmlinuz-*')")
    release=${kernel#vmlinuz-}
    # Statically linked: it runs here as it does in the guest.
    busybox=$image/guest/usr/bin/busybox
    unxz() { "$busybox" unxz "$@"; }
    zstd() { LD_LIBRARY_PATH=$image/tools/usr/lib/x86_64-linux-gnu "$image/tools/usr/bin/zstd" "$@"; }
    extract_kernel "$image/kernel/boot/$kernel" "$image/vmlinux" || unable "no kernel found in $kernel"
    make_modules "$image/kernel" "$image/guest"
    make_initrd "$image/guest" "$image/initrd.gz"
    rm -rf -- "$image/kernel" "$image/tools"
    printf '%s\n' "$release" >"$image/release"
}

[ "$(uname -sm)" = 'Linux x86_64' ] || unable "the lab needs Linux on x86-64, this is $(uname -sm)"
for tool in apt-get apt-cache dpkg-deb flock setpriv gzip; do
    command -v "$tool" >/dev/null || unable "$tool is missing: the lab needs Debian 12 or newer"
done
mkdir -p "$lab/debs" 2>/dev/null && [ -w "$lab" ] || unable "cannot write to $lab: set FRAMECAST_LAB_DIR"
lab=$(cd -- "$lab" && pwd)

# Another version of what makes the image makes another image; downloads are kept.
version=$(cat -- "$here/build.sh" "$here/guest/init" | sha256sum | cut -c1-12)
if [ "$(cat -- "$lab/image/version" 2>/dev/null)" != "$version" ]; then
    exec 9>"$lab/lock"
    # Guests that run hold it too: the image is their tree.
    flock -n 9 || { say 'waiting for another that builds or uses the lab' && flock 9; }
    if [ "$(cat -- "$lab/image/version" 2>/dev/null)" != "$version" ]; then
        begin=$SECONDS
        download guest "${GUEST_PACKAGES[@]}"
        download qemu "${QEMU_PACKAGES[@]}"
        download tools "${TOOL_PACKAGES[@]}"
        download_kernel
        image=$lab/image.part
        make_image
        printf '%s\n' "$version" >"$image/version"
        rm -rf -- "$lab/image"
        mv -T -- "$image" "$lab/image"
        say "made in $((SECONDS - begin)) s, kernel $(cat -- "$lab/image/release")"
    fi
    exec 9>&-
fi
printf '%s\n' "$lab"
