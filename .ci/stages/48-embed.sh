#!/usr/bin/env bash
# The README's "In your project", as it stands there. The artifacts go to a repository of files: an empty project takes
# them from it and runs the ten lines. They are installed: a project beside this one imports the BOM and names no version.
# Each has a local repository of its own, which sees none of this build's other artifacts.
# Limit: 900 s
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

. .ci/cases.sh
# shellcheck disable=SC2034 # read by is_wanted
FEW=('the tool without flags')

root=$PWD
java=$JAVA25_HOME/bin/java
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

# project DIRECTORY NUMBER: an empty project with the README's block of XML, whose program is the ten lines.
project() {
    mkdir -p "$1/src/main/java/app"
    {
        printf '<project xmlns="http://maven.apache.org/POM/4.0.0">\n<modelVersion>4.0.0</modelVersion>\n'
        printf '<groupId>app</groupId>\n<artifactId>app</artifactId>\n<version>1</version>\n'
        block xml "$2" | sed "s|file:///srv/maven|file://$work/repository|"
        printf '</project>\n'
    } >"$1/pom.xml"
    {
        printf 'package app;\nimport io.framecast.api.*;\nimport java.lang.foreign.*;\nimport java.time.Duration;\n'
        printf 'final class App {\npublic static void main(final String[] arguments) {\n'
        block java 1 | sed 's|frame.close();|System.out.println(frame.length()); frame.close();|'
        printf '}\n}\n'
    } >"$1/src/main/java/app/App.java"
}

# build DIRECTORY REPOSITORY OPTION…: builds the project there, with a local repository in front of the user's own.
build() {
    JAVA_HOME=$JAVA25_HOME timeout --kill-after=15 300 "$root/mvnw" -q -f "$1/pom.xml" package dependency:copy-dependencies \
        -Dmaven.repo.local="$2" -Dmaven.repo.local.tail="$HOME/.m2/repository" \
        -Dmaven.repo.local.tail.ignoreAvailability "${@:3}" </dev/null
}

# The README's deploy command, and a project that takes what it put there.
deployed() {
    local status
    timeout --kill-after=15 600 ./mvnw -q -Prelease deploy -Dmaven.test.skip -Dmaven.install.skip \
        -pl .,embed,bom,gpu-sink,rdma-transport -am -DaltDeploymentRepository="framecast::file://$work/repository" </dev/null
    for kind in sources javadoc; do
        for artifact in api engine reliability gpu-sink rdma-transport; do
            compgen -G "$work/repository/io/framecast/framecast-$artifact/*/*-$kind.jar" >/dev/null ||
                { printf 'failed: no %s of framecast-%s\n' "$kind" "$artifact"; exit 1; }
        done
    done
    printf 'passed: artifacts, sources and javadoc in a repository\n'
    project "$work/project" 1
    build "$work/project" "$work/local"
    cd -- "$work/project"
    if compgen -G 'target/dependency/framecast-simulator-*.jar' >/dev/null; then
        printf 'failed: users of io.framecast:framecast get the simulator\n'
        exit 1
    fi
    unzip -p target/dependency/framecast-[0-9]*.jar META-INF/framecast.args >framecast.args
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
}

# `./mvnw install`, and a project beside this one that imports the BOM.
installed() {
    project "$work/beside" 2
    timeout --kill-after=15 900 ./mvnw -q install -DskipTests -Dmaven.repo.local="$work/installed" \
        -Dmaven.repo.local.tail="$HOME/.m2/repository" -Dmaven.repo.local.tail.ignoreAvailability </dev/null
    for artifact in framecast framecast-bom framecast-parent framecast-gpu-sink framecast-rdma-transport; do
        compgen -G "$work/installed/io/framecast/$artifact/*/$artifact-*.pom" >/dev/null ||
            { printf 'failed: install leaves %s out\n' "$artifact"; exit 1; }
    done
    build "$work/beside" "$work/installed" -Dmaven.compiler.release=25
    cd -- "$work/beside"
    compgen -G 'target/dependency/framecast-gpu-sink-*.jar' >/dev/null ||
        { printf 'failed: no framecast-gpu-sink by the BOM\n'; exit 1; }
    length=$(timeout 60 "$java" @"$root/framecast.args" -cp 'target/classes:target/dependency/*' app.App 2>errors)
    [ "$length" = 6220800 ] || { printf 'failed: beside this project the ten lines printed: %s\n' "$length"; cat errors; exit 1; }
    printf 'passed: install, and a project beside this one that imports the BOM\n'
}

without_flags() {
    local status=0
    timeout --kill-after=15 600 ./framecast --version >/dev/null
    timeout 60 "$java" --enable-native-access=ALL-UNNAMED -cp samples/target/framecast-samples.jar \
        io.framecast.samples.tool.Main publish 'framecast:udp?group=224.20.30.44:24326|interface=127.0.0.1' \
        --input test --json - >"$work/json" 2>"$work/said" || status=$?
    if [ "$status" != 2 ] || [ "$(wc -l <"$work/said")" != 1 ] || ! grep -q framecast.args "$work/json"; then
        printf 'failed: the tool without flags, status %d: %s\n' "$status" "$(cat "$work/said" "$work/json")"
        exit 1
    fi
    printf 'passed: the tool without flags: %s\n' "$(cat "$work/said")"
}

! is_wanted 'artifacts in a repository' || counted deployed
! is_wanted install || counted installed
! is_wanted 'the tool without flags' || counted without_flags
end_cases
