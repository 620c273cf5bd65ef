# Finds the JDK that Maven, the compilers, the tests and the tool run on: sourced by mvnw, framecast and the kits.

JDK_MIN=25

# Whether directory $1 is a JDK, new enough: its `release` file says so without starting it.
is_jdk() {
    [ -x "$1/bin/java" ] && [ -x "$1/bin/javac" ] && [ -r "$1/release" ] || return 1
    while IFS= read -r line; do
        case $line in
            JAVA_VERSION=*)
                version=${line#JAVA_VERSION=}
                version=${version#\"}
                version=${version%\"}
                major=${version%%[!0-9]*}
                [ "${major:-0}" -ge "$JDK_MIN" ]
                return
                ;;
        esac
    done <"$1/release"
    return 1
}

# What to do where there is none.
jdk_missing() {
    printf 'no JDK %s or newer found: ' "$JDK_MIN"
    system=
    [ ! -r /etc/os-release ] || system=$(. /etc/os-release && printf '%s %s' "${ID:-}" "${ID_LIKE:-}")
    case " $system " in
        *' debian '* | *' ubuntu '*)
            printf 'add the repository of https://adoptium.net/installation/linux and run apt install temurin-%s-jdk' "$JDK_MIN" ;;
        *' fedora '* | *' rhel '* | *' centos '*) printf 'run dnf install java-%s-openjdk-devel' "$JDK_MIN" ;;
        *' arch '*) printf 'run pacman -S jdk%s-openjdk' "$JDK_MIN" ;;
        *' suse '* | *' opensuse '*) printf 'run zypper install java-%s-openjdk-devel' "$JDK_MIN" ;;
        *' alpine '*) printf 'run apk add openjdk%s' "$JDK_MIN" ;;
        *) printf 'install Temurin %s from https://adoptium.net' "$JDK_MIN" ;;
    esac
    printf ', or set JAVA25_HOME\n'
}

# Sets `jdk` and its `version`. Returns 1 where none is found.
find_jdk() {
    for jdk in "${JAVA25_HOME:-}" "${JAVA_HOME:-}"; do
        is_jdk "$jdk" && return
    done
    for name in $(env | sed -n 's/^\(JAVA[A-Za-z0-9_]*_HOME\)=.*/\1/p'); do
        eval "jdk=\$$name"
        is_jdk "$jdk" && return
    done
    java=$(command -v java || :)
    if [ -n "$java" ] && real=$(readlink -f -- "$java" 2>/dev/null); then
        jdk=${real%/bin/java}
        is_jdk "$jdk" && return
    fi
    user=${HOME:-/nonexistent}
    for jdk in /usr/lib/jvm/* /usr/lib64/jvm/* /opt/* /opt/java/* "$user"/.sdkman/candidates/java/* "$user"/.jdks/* \
        "${MISE_DATA_DIR:-$user/.local/share/mise}"/installs/java/* "${ASDF_DATA_DIR:-$user/.asdf}"/installs/java/* \
        /Library/Java/JavaVirtualMachines/*/Contents/Home "$user"/Library/Java/JavaVirtualMachines/*/Contents/Home \
        /opt/homebrew/opt/openjdk*/libexec/openjdk.jdk/Contents/Home \
        /usr/local/opt/openjdk*/libexec/openjdk.jdk/Contents/Home; do
        is_jdk "$jdk" && return
    done
    return 1
}
