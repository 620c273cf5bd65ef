package io.framecast.perf.litmus;

import io.framecast.api.Channel;

/// One litmus test.
///
/// @param group where to stream, as a channel without device and sizes; with short datagrams: a ring is at
///     least 64 of them, and should hold few frames
/// @param device `emulated:0`, `cuda:0`
/// @param settings more of the channel: `placement=…`
/// @param frameBytes a multiple of 8
/// @param lateNs how long kernels keep a stream busy before they look, on real hardware
record LitmusPlan(
        String group, String device, String settings, LitmusWay way, long rounds, long frameBytes, long lateNs) {
    Channel channel(final String where) {
        return Channel.parse(group + "|device=" + where + "|window=" + 4 * frameBytes + "|frame-max=" + frameBytes
                + "|frames-held=2" + settings);
    }

    long words() {
        return frameBytes / Long.BYTES;
    }
}
