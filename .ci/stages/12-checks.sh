#!/usr/bin/env bash
# What is checked of the sources beside what javac finds: Error Prone, NullAway and the format. It builds apart, in
# target/checks, so that no later stage compiles again.
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
# Without blanks, comments and imports.
for module in api reliability engine rdma-transport gpu-sink samples perf; do
    printf 'main code lines of %s: %d\n' "$module" \
        "$(git ls-files "$module/src/main/*.java" | xargs cat | grep -cvE '^\s*($|//|/?\*|import |package )')"
done
end_cases
