#!/usr/bin/env bash
# The README's "In your project", as it stands there: the artifacts go to a repository of files, an empty project takes
# them from it and runs the ten lines. Its own local repository sees none of this build's artifacts.
# Limit: 900 s
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

root=$PWD
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

# block LANGUAGE NUMBER: a fenced block of the README.
block() {
    awk -v start="\`\`\`$1" -v number="$2" '
        on && /^```/ { exit }
        on { print }
        $0 == start && ++seen == number { on = 1 }
    ' README.md
}

timeout --kill-after=15 600 ./mvnw -q -Prelease deploy -Dmaven.test.skip -Dmaven.install.skip \
    -pl .,embed,bom,gpu-sink,rdma-transport -am -DaltDeploymentRepository="framecast::file://$work/repository" </dev/null
for kind in sources javadoc; do
    for artifact in api engine reliability gpu-sink rdma-transport; do
        compgen -G "$work/repository/io/framecast/framecast-$artifact/*/*-$kind.jar" >/dev/null ||
            { printf 'failed: no %s of framecast-%s\n' "$kind" "$artifact"; exit 1; }
    done
done
printf 'passed: artifacts, sources and javadoc in a repository\n'

mkdir -p "$work/project/src/main/java/app"
cd -- "$work/project"
{
    printf '<project xmlns="http://maven.apache.org/POM/4.0.0">\n<modelVersion>4.0.0</modelVersion>\n'
    printf '<groupId>app</groupId>\n<artifactId>app</artifactId>\n<version>1</version>\n'
    (cd -- "$root" && block xml 1) | sed "s|file:///srv/maven|file://$work/repository|"
    printf '</project>\n'
} >pom.xml
{
    printf 'package app;\nimport io.framecast.api.*;\nimport java.lang.foreign.*;\nimport java.time.Duration;\n'
    printf 'final class App {\npublic static void main(final String[] arguments) {\n'
    (cd -- "$root" && block java 1) | sed 's|frame.close();|System.out.println(frame.length()); frame.close();|'
    printf '}\n}\n'
} >src/main/java/app/App.java
JAVA_HOME=$JAVA25_HOME timeout --kill-after=15 300 "$root/mvnw" -q -f pom.xml package dependency:copy-dependencies \
    -Dmaven.repo.local="$work/local" -Dmaven.repo.local.tail="$HOME/.m2/repository" \
    -Dmaven.repo.local.tail.ignoreAvailability </dev/null
unzip -p target/dependency/framecast-[0-9]*.jar META-INF/framecast.args >framecast.args
java=$JAVA25_HOME/bin/java
length=$(timeout 60 "$java" @framecast.args -cp 'target/classes:target/dependency/*' app.App 2>errors)
[ "$length" = 6220800 ] || { printf 'failed: the ten lines printed: %s\n' "$length"; cat errors; exit 1; }
if grep WARNING errors; then
    printf 'failed: the JDK warns in spite of framecast.args\n'
    exit 1
fi
printf 'passed: the ten lines with @framecast.args\n'

status=0
timeout 60 "$java" -cp 'target/classes:target/dependency/*' app.App >said 2>&1 || status=$?
grep -q 'ConfigException: JVM: the flag --add-opens java.base/jdk.internal.misc=ALL-UNNAMED is missing.*@framecast.args' said ||
    { printf 'failed: without the flags, status %d: %s\n' "$status" "$(cat said)"; exit 1; }
printf 'passed: the ten lines without flags name the one that is missing\n'

status=0
cd -- "$root"
timeout --kill-after=15 600 ./framecast --version >/dev/null
timeout 60 "$java" --enable-native-access=ALL-UNNAMED -cp samples/target/framecast-samples.jar \
    io.framecast.samples.tool.Main publish 'framecast:udp?group=224.20.30.44:24326|interface=127.0.0.1' \
    --input test --json - >"$work/json" 2>"$work/said" || status=$?
if [ "$status" != 2 ] || [ "$(wc -l <"$work/said")" != 1 ] || ! grep -q framecast.args "$work/json"; then
    printf 'failed: the tool without flags, status %d: %s\n' "$status" "$(cat "$work/said" "$work/json")"
    exit 1
fi
printf 'passed: the tool without flags: %s\n' "$(cat "$work/said")"
