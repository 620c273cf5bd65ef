package io.framecast.perf.streaming;

import io.framecast.perf.harness.DeviceChoice;
import io.framecast.perf.rivals.StreamSpec;
import java.util.List;

/// One stream into devices, as one of its processes sees it.
///
/// @param stream frames, network and which receiver this is
record StreamingSpec(StreamSpec stream, Way way, Devices devices, Flow flow) {
    private static final long WINDOW_BYTES_MIN = 4 << 20;
    // Behind a stream's first port.
    private static final int ACKNOWLEDGEMENTS = 15;
    // More than subscribers hold by default.
    private static final int FRAMES_HELD = 8;

    /// How frames are carried.
    ///
    /// @param scheme `framecast`, `ring` or `knomial`
    /// @param transport Framecast's, as in a channel's URI; of no meaning to the others, as is `placement`
    /// @param radix of a k-nomial tree
    /// @param chunkBytes what a hop over unicast passes on at a time; a multiple of
    ///     [FrameContent#BLOCK_BYTES]
    record Way(String scheme, String transport, String placement, int radix, int chunkBytes) {}

    /// The devices of frames.
    ///
    /// @param names of the receivers' devices, by turns; the source's is the first
    /// @param sourceInDevice whether the source's frames lie on its device
    /// @param linkBytesPerSecond of emulated devices; 0 for what the host can copy
    record Devices(List<String> names, boolean sourceInDevice, long linkBytesPerSecond) {
        DeviceChoice ofReceiver(final int index) {
            return choice(names.get(index % names.size()));
        }

        static DeviceChoice choice(final String name) {
            return DeviceChoice.parse(name, "host|emulated(:\\d{1,2})?|cuda:\\d{1,2}", "host, emulated[:N] or cuda:N");
        }

        DeviceChoice ofSource() {
            return choice(names.getFirst());
        }
    }

    /// How many frames are under way, and what is beside them.
    ///
    /// @param inFlight frames that not every receiver has, at most
    /// @param loneNs how long frames go one at a time, to be timed
    /// @param backgroundBytesPerSecond of each process and direction; 0 for as much as is taken
    record Flow(int inFlight, long loneNs, Direction direction, long backgroundBytesPerSecond) {}

    int frameBytes() {
        return stream.load().frameBytes();
    }

    /// Twice what may be under way, so that it never holds the source back.
    long windowBytes() {
        return Math.max(WINDOW_BYTES_MIN, 2L * flow.inFlight * frameBytes());
    }

    /// Frames that have been through every buffer of a stream once, whichever scheme's.
    int framesUntilTouched() {
        return (int) (windowBytes() / frameBytes()) + FRAMES_HELD;
    }

    int receivers() {
        return stream.load().receivers();
    }

    /// Receivers tell the source what they have here.
    int acknowledgementPort() {
        return stream.link().port() + ACKNOWLEDGEMENTS;
    }

    /// Where a process of a tree listens for those below it.
    ///
    /// @param rank 0 for the source
    int treePort(final int rank) {
        return stream.link().port() + rank;
    }

    StreamingSpec ofReceiver(final int index) {
        return new StreamingSpec(stream.of(stream.link().localAddress(), index), way, devices, flow);
    }
}
