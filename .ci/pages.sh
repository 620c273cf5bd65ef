# shellcheck shell=bash
# Runs what pages show, as it is written there, in terminals on hosts. A host is a network namespace with a runtime directory,
# /etc, /run, /opt and /usr/local of its own. Sourced by a stage behind .ci/netns.sh, with `work`, `root` and, for each
# case, `desk` set: a folder for what is of this case.
#
# A case runs in a shell of its own, ends at the first command that fails, and has these:
#
#   text_of BLOCK N           the N-th command of a block (.ci/pages.py)
#   start NAME HOST TEXT      a terminal that runs TEXT in the reader's folder, with its output in $desk/NAME.log
#   run HOST TEXT             the same to its end, which has status 0
#   await NAME PATTERN [N]    until N lines of a terminal's output (1) have the pattern
#   interrupt NAME            Ctrl-C
#   ended NAME [PATTERN [S]]  until it has ended, S seconds (60) at most; its status has the pattern (0)

pages=$root/.ci/pages.py
declare -A holder=() terminal=()

# add_host NAME: a namespace that lives as long as its holder.
add_host() {
    add_namespace "$id-$1" || return
    ip netns exec "$id-$1" sleep infinity &
    holder[$1]=$!
    processes+=("$!")
    until grep -qx sleep "/proc/$!/comm"; do
        kill -0 "$!" || return
        sleep 0.1
    done
    mkdir -m 700 "$work/$1"
    mkdir "$work/etc-$1" "$work/opt-$1"
    cp -a /etc/. "$work/etc-$1"
    # shellcheck disable=SC2016 # expanded inside
    on "$1" bash -ec '
        mount --bind "$1/etc-$2" /etc
        mount --rbind /opt "$1/opt-$2"
        for folder in /opt /run /usr/local; do mount -t tmpfs tmpfs "$folder"; done
        for each in "$1/opt-$2"/*; do [ ! -e "$each" ] || ln -s "$each" /opt/; done
        ln -s "$3" /opt/framecast
        [ ! -d /var/cache/ldconfig ] || mount -t tmpfs tmpfs /var/cache/ldconfig' - "$work" "$1" "$root"
}

# on HOST COMMAND…
on() {
    nsenter --target "${holder[$1]}" --mount --net -- "${@:2}"
}

# join_hosts A B: an interface eth0 each, of one network.
join_hosts() {
    step ip link add eth0 netns "$id-$1" mtu 1500 type veth peer name eth0 netns "$id-$2" mtu 1500 || return
    join_network "$1" 10.77.0.1 10.77.0.2 || return
    join_network "$2" 10.77.0.2 10.77.0.1 || return
    await_link "$1" && await_link "$2"
}

# join_network HOST ADDRESS ROUTER
join_network() {
    step ip -n "$id-$1" address add "$2/24" dev eth0 || return
    step ip -n "$id-$1" link set eth0 up || return
    step ip -n "$id-$1" route add default via "$3"
}

# await_link HOST: until its eth0 is up, which takes both ends of the pair.
await_link() {
    local i
    for ((i = 0; i < 100; i++)); do
        step ip -n "$id-$1" link show eth0 | grep -q "state UP" && return
        sleep 0.1
    done
    printf "after 10 s eth0 of %s is not up\n" "$1"
    return 1
}

# new_reader: a folder with all that a checkout has at its top, which a case may write into.
new_reader() {
    local each
    rm -rf -- "$desk/reader"
    mkdir "$desk/reader"
    for each in "$root"/* "$root/.ci" "$root/.mvn"; do
        ln -s "$each" "$desk/reader/"
    done
    reader=$desk/reader
}

text_of() {
    printf '%s %s\n' "$1" "$2" >>"$work/used"
    "$pages" command "$1" "$2"
}

# Without job control a background process would ignore Ctrl-C.
start() {
    : >"$desk/$1.log"
    set -m
    nsenter --target "${holder[$2]}" --mount --net -- env -C "$reader" "XDG_RUNTIME_DIR=${runtime:-$work/$2}" \
        bash -c "$3" <"${input:-/dev/null}" >"$desk/$1.log" 2>&1 9>&- &
    terminal[$1]=$!
    set +m
    printf '%s on %s: %s\n' "$1" "$2" "$3"
}

run() {
    start command "$1" "$2"
    ended command 0 "${3:-60}"
}

# locked COMMAND…: while no other case makes clients.
locked() {
    exec 9>"$work/lock"
    flock 9
    "$@"
    exec 9>&-
}

await() {
    local i
    for ((i = 0; i < 300; i++)); do
        [ "$(grep -c -- "$2" "$desk/$1.log" || :)" -lt "${3:-1}" ] || return 0
        sleep 0.1
    done
    printf 'after 30 s %s has %d lines with %s, expected %d\n' "$1" "$(grep -c -- "$2" "$desk/$1.log" || :)" "'$2'" "${3:-1}"
    return 1
}

# has NAME PATTERN N: exactly N lines of a terminal's output.
has() {
    local lines
    lines=$(grep -c -- "$2" "$desk/$1.log" || :)
    [ "$lines" = "$3" ] || { printf '%s has %d lines with %s, expected %d\n' "$1" "$lines" "'$2'" "$3" && return 1; }
}

interrupt() {
    kill -INT -- "-${terminal[$1]}"
}

ended() {
    local i status=0 pid=${terminal[$1]}
    for ((i = 0; i < ${3:-60} * 10; i++)); do
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.1
    done
    if kill -0 "$pid" 2>/dev/null; then
        printf '%s goes on after %d s\n' "$1" "${3:-60}"
        return 1
    fi
    wait "$pid" || status=$?
    unset "terminal[$1]"
    # shellcheck disable=SC2053 # the right side is a pattern
    [[ $status == ${2:-0} ]] || { printf '%s ended with status %d, expected %s\n' "$1" "$status" "${2:-0}" && return 1; }
}

end_terminals() {
    local name
    for name in "${!terminal[@]}"; do
        kill -TERM -- "-${terminal[$name]}" 2>/dev/null || unset "terminal[$name]"
    done
    [ "${#terminal[@]}" = 0 ] || sleep 1
    for name in "${!terminal[@]}"; do
        kill -KILL -- "-${terminal[$name]}" 2>/dev/null || :
    done
}

# check NAME FUNCTION ARGUMENT…: runs a case; what it and its terminals printed is shown where it fails.
check() {
    local name=$1 status=0 begin=$SECONDS log
    shift
    is_wanted "$name" || return 0
    rm -f -- "$desk"/*.log
    new_reader
    set -m
    (
        set -eE
        trap end_terminals EXIT
        trap 'exit 143' TERM
        trap 'printf "line %d: %s\n" "$LINENO" "$BASH_COMMAND" >&2' ERR
        "$@"
    ) >"$desk/said" 2>&1 &
    processes+=("$!")
    set +m
    wait "$!" || status=$?
    unset 'processes[-1]'
    if [ "$status" = 0 ]; then
        pass "$name ($((SECONDS - begin)) s)"
        return
    fi
    {
        fail_case "$name ($((SECONDS - begin)) s)"
        sed 's/^/    /' "$desk/said"
        for log in "$desk"/*.log; do
            [ -s "$log" ] || continue
            printf '    %s:\n' "${log##*/}"
            grep -av GST_TRACER "$log" | tail -n 8 | cut -c 1-300 | sed 's/^/        /' || :
        done
    } >"$desk/failure"
    cat "$desk/failure"
}
