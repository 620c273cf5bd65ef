#!/usr/bin/env bash
# What is checked of the sources beside what Maven's javac finds: Error Prone, NullAway, the format, and references of doc
# comments, which javac checks in a process of its own alone. It builds apart, so that no later stage compiles again.
# Limit: 900 s
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

. .ci/cases.sh
log=$(mktemp)
trap 'rm -f -- "$log"' EXIT
if ./mvnw -Pchecks process-test-classes >"$log" 2>&1; then
    pass 'Error Prone, NullAway and the format: ./mvnw -Pchecks process-test-classes'
else
    show_maven "$log"
    fail_case 'Error Prone, NullAway and the format: ./mvnw -Pchecks process-test-classes'
fi
# docs: javac's check of doc comments, with the classes that the tools' jars hold.
docs() {
    local out status=0
    out=$(mktemp -d)
    git ls-files '*/src/main/java/*.java' | xargs "$JAVA25_HOME/bin/javac" -proc:none -nowarn -Xdoclint:all,-missing -d "$out" \
        -cp "$(find "$HOME/.m2/repository/org/jspecify" -name 'jspecify-*.jar' | head -n 1):$(printf '%s:' samples/target/*.jar perf/target/*.jar)" \
        >"$log" 2>&1 || status=$?
    rm -rf -- "$out"
    return "$status"
}
[ -e perf/target/framecast-perf.jar ] || ./mvnw -q package -DskipTests >"$log" 2>&1 || :
if docs; then
    pass 'doc comments refer to what exists'
else
    fail_case "doc comments refer to what exists: $(grep -a -m 5 -A 1 error "$log")"
fi
# Without blanks, comments and imports.
for module in api reliability reliability/simulator engine rdma-transport gpu-sink samples perf; do
    printf 'main code lines of %s: %d\n' "$module" \
        "$(git ls-files "$module/src/main/*.java" | xargs cat | grep -cvE '^\s*($|//|/?\*|import |package )')"
done
end_cases
