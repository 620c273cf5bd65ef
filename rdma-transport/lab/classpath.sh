#!/usr/bin/env bash
# Compiles a module with its tests and prints the class path that its tests have. Here, not in a guest, where Maven
# takes long. What Maven says goes to stderr.
#
#   classpath.sh MODULE
set -euo pipefail

module=$1
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
./mvnw -q -pl "$module" -am test-compile dependency:build-classpath \
    -Dmdep.outputFile=target/lab.classpath -Dmdep.includeScope=test </dev/null >&2
printf '%s:%s:%s\n' "$PWD/$module/target/test-classes" "$PWD/$module/target/classes" "$(cat "$module/target/lab.classpath")"
