#!/usr/bin/env bash
# The README's test command as a new user runs it: in a fresh clone, with a fresh home, and with a PATH that holds only the
# programs of a minimal Debian with git, curl and a JDK; as an ordinary user, then as root in a minimal tree made by
# debootstrap, for a PATH hides no library, header or Python module. Prints how many tests were skipped, by reason; fails
# where a reason is not in .ci/skips. What the first run built stays in this checkout, so that later stages compile
# nothing again.
# Limit: 3600 s
#
#   CASES   pattern that a case's name must match to run, default *
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

. .ci/cases.sh
# shellcheck disable=SC2034 # read by is_wanted
FEW=('an ordinary user')
LIMIT=1500
# Beside the packages that every Debian has.
PACKAGES=(git curl iproute2)
user=fcverify$$
work=
tree_pid=

command -v dpkg-query >/dev/null || skip 'a minimal PATH is made of what dpkg knows'
jdk=${JAVA25_HOME:?'set JAVA25_HOME to a JDK 25'}

clean() {
    # A tree that is still being made is let finish: a mount of its own would outlive what is killed.
    [ -z "$tree_pid" ] || wait "$tree_pid" || :
    userdel "$user" 2>/dev/null || :
    [ -z "$work" ] || rm -rf --one-file-system -- "$work"
}
trap clean EXIT
trap 'exit 143' TERM HUP
trap 'exit 130' INT

# clone DIRECTORY: this checkout, with what is not committed.
clone() {
    git clone -q --no-hardlinks . "$1"
    git ls-files -z --deleted | (cd -- "$1" && xargs -0r rm -f --)
    git ls-files -z --cached --others --exclude-standard | xargs -0 sh -c 'for file; do [ ! -e "$file" ] || printf "%s\0" "$file"; done' sh |
        tar --null -T - -c | tar -x -C "$1"
}

# make_path DIRECTORY: links to what a minimal Debian with PACKAGES has, and to the JDK's tools.
make_path() {
    local file
    mkdir -p "$1"
    # shellcheck disable=SC2016 # dpkg's format
    dpkg-query -W -f '${Package} ${Priority} ${Essential}\n' | awk '$2 == "required" || $3 == "yes" { print $1 }' |
        xargs dpkg -L "${PACKAGES[@]}" 2>/dev/null | grep -E '^(/usr)?/s?bin/[^/]+$' | sort -u |
        while read -r file; do
            [ ! -x "$file" ] || ln -sf "$file" "$1/"
        done
    # An alternative belongs to no package.
    [ -e "$1/awk" ] || ln -s "$(command -v awk)" "$1/awk"
    for file in "$jdk"/bin/*; do
        ln -sf "$file" "$1/"
    done
    chmod -R a+rX "$1"
}

# passed_on: what Maven may need of this environment to reach its repository.
passed_on() {
    env | grep -E '^(https?_proxy|no_proxy|HTTPS?_PROXY|NO_PROXY|SSL_CERT_FILE)=' || :
}

# verify NAME CLONE COMMAND…: the command runs in the clone.
verify() {
    local name=$1 clone=$2 status=0 begin=$SECONDS seconds good bad
    shift 2
    timeout --kill-after=15 "$LIMIT" "$@" >"$work/log" 2>&1 || status=$?
    seconds=$((SECONDS - begin))
    show_maven "$work/log"
    count_tests "$clone" bare "$status"
    printf '%s: ./mvnw verify as %s: %d tests in %d s\n' "$([ "$bad" = 0 ] && echo passed || echo FAILED)" "$name" "$good" \
        "$seconds"
}

# keep CLONE: what it built takes the place of what this checkout has.
keep() {
    local folder
    for folder in "$1"/target "$1"/*/target "$1"/*/*/target; do
        [ -d "$folder" ] || continue
        folder=${folder#"$1"/}
        # This stage's own log lies in the checkout's.
        [ "$folder" != target ] || continue
        rm -rf -- "$folder"
        cp -a --no-preserve=ownership "$1/$folder" "$folder"
    done
}

as_user() {
    local home=$work/home clone=$work/home/framecast
    useradd --home-dir "$home" --create-home --shell /bin/sh "$user"
    clone "$clone"
    chown -R "$user:" "$home"
    # shellcheck disable=SC2046 # a list of words
    verify 'an ordinary user' "$clone" runuser -u "$user" -- env -i -C "$clone" $(passed_on) HOME="$home" USER="$user" \
        LOGNAME="$user" PATH="$work/path" ./mvnw verify
    keep "$clone"
    if ! is_few; then
        # The tree takes what it has downloaded.
        mv -- "$home/.m2" "$work/m2"
    fi
    userdel "$user"
    rm -rf --one-file-system -- "$home"
}

make_tree() {
    local mirror
    if ! command -v debootstrap >/dev/null; then
        apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install debootstrap >/dev/null
    fi
    mirror=$(sed -n 's/^URIs: *//p; s/^deb \(\[[^]]*\] \)\?\([^ ]*\).*/\2/p' /etc/apt/sources.list.d/*.sources \
        /etc/apt/sources.list 2>/dev/null | head -n 1 || :)
    mirror=${mirror:-http://deb.debian.org/debian}
    debootstrap --variant=minbase --include=git,curl,ca-certificates \
        "$(. /etc/os-release && printf %s "$VERSION_CODENAME")" "$work/tree" "$mirror"
}

# The tree has mounts of its own, which go with the process.
in_tree() {
    local tree=$work/tree home=$work/tree/root
    wait "$tree_pid" || { tail -n 20 "$work/tree.log" && fail_case 'a tree of debootstrap' && return; }
    cp /etc/resolv.conf /etc/hosts "$tree/etc/"
    # What this machine trusts, where it reaches the network by a proxy of its own; a JDK may link to it.
    find /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/java -type f -print0 2>/dev/null |
        tar --null -PT - -ch | tar -x -C "$tree" || :
    mkdir -p "$tree/usr/lib/jvm/jdk"
    clone "$home/framecast"
    [ ! -d "$work/m2" ] || mv -- "$work/m2" "$home/.m2"
    chown -R 0:0 "$home"
    # shellcheck disable=SC2016,SC2046 # expanded there; a list of words
    verify 'root in a minimal tree' "$home/framecast" unshare --mount sh -euc '
        tree=$1 jdk=$2
        shift 2
        # As on a machine, / is a mount point: Java asks what a path is stored on.
        mount --bind "$tree" "$tree"
        mount --rbind /proc "$tree/proc"
        mount --rbind /sys "$tree/sys"
        mount --rbind /dev "$tree/dev"
        mount --rbind "$jdk" "$tree/usr/lib/jvm/jdk"
        exec chroot "$tree" "$@"' sh "$tree" "$jdk" env -i -C /root/framecast $(passed_on) HOME=/root USER=root \
        LOGNAME=root PATH=/usr/sbin:/usr/bin:/sbin:/bin ./mvnw verify
}

work=$(mktemp -d)
chmod 755 "$work"
make_path "$work/path"
if [ "$(id -u)" != 0 ]; then
    mkdir -p "$work/home"
    clone "$work/home/framecast"
    # shellcheck disable=SC2046 # a list of words
    verify 'this user' "$work/home/framecast" env -i -C "$work/home/framecast" $(passed_on) HOME="$work/home" \
        PATH="$work/path" ./mvnw verify
    keep "$work/home/framecast"
else
    # The tree is made while the other runs.
    if is_wanted 'root in a minimal tree'; then
        make_tree >"$work/tree.log" 2>&1 &
        tree_pid=$!
    fi
    ! is_wanted 'an ordinary user' || as_user
    [ -z "$tree_pid" ] || in_tree
fi
end_cases
