package io.framecast.perf.rivals;

import java.lang.foreign.Arena;

/// The best that the kernel gives: a raw multicast loop over UDP_SEGMENT and UDP_GRO by the C library's calls,
/// held back by one credit datagram per frame and receiver. Nothing is repaired, checked or made contiguous.
public final class FloorSystem implements MeasuredSystem {
    static final String NAME = "floor";

    @Override
    public SourceReport publish(final StreamSpec spec, final Runnable gone) {
        try (Arena arena = Arena.ofConfined();
                FloorSource source = new FloorSource(arena, spec)) {
            return source.run(spec, gone);
        }
    }

    @Override
    public ReceiverReport subscribe(final StreamSpec spec) {
        try (Arena arena = Arena.ofConfined();
                FloorReceiver receiver = new FloorReceiver(arena, spec)) {
            return receiver.run();
        }
    }
}
