#!/usr/bin/env bash
# Publishes a test video by a GStreamer pipeline, or watches one.
#
#     framecast serve --publish URI &
#     pipeline.sh watch URI           # in a window; without a display: a line for each picture
#     pipeline.sh publish URI [N]     # N pictures, else until it is interrupted
#
# GST_PLUGIN_PATH names the folder of libgstframecast.so, unless the plugin is installed. Exit status: that of gst-launch-1.0.
set -euo pipefail

usage() {
    sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

publish() {
    # -e: an interrupt ends the stream. The pictures begin when somebody watches, and come in real time.
    exec gst-launch-1.0 -q -e videotestsrc pattern=ball num-buffers="${2:--1}" \
        ! video/x-raw,format=NV12,width=640,height=480,framerate=30/1 \
        ! framecastsink uri="$1" metadata="from $(hostname)"
}

watch() {
    if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
        exec gst-launch-1.0 -q framecastsrc uri="$1" delivery=latest timeout=-1 ! videoconvert ! autovideosink
    fi
    exec gst-launch-1.0 -v framecastsrc uri="$1" timeout=-1 ! fakesink name=picture silent=false sync=false
}

case ${1:-} in
    publish) [ $# -ge 2 ] && [ $# -le 3 ] || usage ;;
    watch) [ $# = 2 ] || usage ;;
    *) usage ;;
esac
"$@"
