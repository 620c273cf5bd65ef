#!/usr/bin/env bash
# Installs the tools that tests and stages call (Debian 12, as root). It runs after the README's test command has passed
# without them. A tool that cannot be installed is a failure; elsewhere than on Debian, or without root, tests and cases
# that need it are left out and say so.
# Limit: 900 s
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

. .ci/cases.sh

# A compiler alone does not find its headers; fonts, modules of Python and GStreamer's libraries are no commands.
PACKAGES=(faketime nftables ffmpeg iproute2 ethtool gcc g++ libc6-dev make pkg-config python3 curl unzip spin
    fontconfig fonts-dejavu-core python3-numpy python3-cbor2 python3-cryptography
    gstreamer1.0-tools libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev gstreamer1.0-plugins-base)
# For samples and elements that only .ci/all runs.
ALL_PACKAGES=(python3-torch libgstreamer-plugins-bad1.0-dev gstreamer1.0-plugins-good gstreamer1.0-plugins-bad
    gstreamer1.0-plugins-ugly gstreamer1.0-libav debootstrap)
is_few || PACKAGES+=("${ALL_PACKAGES[@]}")

if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    skip "not root on Debian: install by hand: ${PACKAGES[*]}"
fi
wanted=()
for package in "${PACKAGES[@]}"; do
    dpkg-query -W -f '${Status}\n' "$package" 2>/dev/null | grep -q ' installed$' || wanted+=("$package")
done
if [ ${#wanted[@]} -gt 0 ]; then
    printf 'installing: %s\n' "${wanted[*]}"
    export DEBIAN_FRONTEND=noninteractive
    apt-get -qq -o Acquire::Retries=3 update
    apt-get -qq -y -o Acquire::Retries=3 --no-install-recommends install "${wanted[@]}" >/dev/null
fi
pass "${#PACKAGES[@]} packages are installed, ${#wanted[@]} of them now"
# The stages start the tool: it is built once.
timeout --kill-after=5 600 ./framecast --version
pass 'the tool is built'
end_cases
