#!/bin/sh
# Compares Framecast's goodput with stock Aeron's over loopback multicast: builds, then runs
# io.framecast.perf.AeronComparison. Options and their defaults: --rounds 7 --seconds 2 --mtu 65536,8192,1500
# --systems framecast,aeron,framecast:aeron --frame-bytes 6220800 --socket-buffer 0 --json FILE|-. Takes about 5 minutes
# on an idle machine; exit status 1 below the bar.
set -eu
cd -- "$(dirname -- "$0")/.."
./mvnw -q -DskipTests -pl perf -am package dependency:build-classpath -Dmdep.outputFile=target/classpath \
    -Dmdep.includeScope=compile >&2
find_java() {
    for home in "${JAVA25_HOME:-}" "${JAVA_HOME:-}" /usr/lib/jvm/*25* /opt/*25*; do
        [ -x "$home/bin/java" ] && grep -q '^JAVA_VERSION="\(2[5-9]\|[3-9][0-9]\)' "$home/release" && return
    done
    printf 'compare-aeron: no JDK 25 found: set JAVA25_HOME\n' >&2
    exit 2
}
find_java 2>/dev/null
exec "$home/bin/java" -cp "perf/target/classes:$(cat perf/target/classpath)" io.framecast.perf.AeronComparison "$@"
