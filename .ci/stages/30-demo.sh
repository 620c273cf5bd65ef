#!/usr/bin/env bash
# The README's demo, on each transport and with loss: its one JSON object must say that every subscriber verified every
# frame.
# Limit: 600 s
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

. .ci/cases.sh
# shellcheck disable=SC2034 # read by is_wanted
FEW=('demo' 'demo --transport udp' 'demo --transport aeron' 'demo --loss 0.02')

# demo ARGUMENT…
demo() {
    local json name="demo${*:+ $*}"
    is_wanted "$name" || return 0
    json=$(timeout --kill-after=15 180 ./framecast demo --seconds 5 --json - "$@") || :
    if python3 -c '
import json, sys
result = json.loads(sys.argv[1])
subscribers = result["subscribers"]
frames = result["publisher"]["frames"]
crc = result["publisher"]["stream_crc32c"]
if result["verified"] is not True:
    sys.exit("not verified")
if frames < 1 or not subscribers:
    sys.exit("nothing was published, or no subscriber listened")
for subscriber in subscribers:
    if (subscriber["frames"], subscriber["stream_crc32c"]) != (frames, crc):
        sys.exit("verified, but a subscriber says otherwise than the publisher")
' "$json"; then
        pass "$name"
    else
        fail_case "$name: $json"
    fi
}

demo
demo --transport udp
demo --transport aeron
demo --loss 0.02
end_cases
