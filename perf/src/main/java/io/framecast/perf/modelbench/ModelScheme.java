package io.framecast.perf.modelbench;

import io.framecast.perf.harness.DeviceChoice;
import io.framecast.perf.harness.Network;
import io.framecast.perf.models.CostModel;
import io.framecast.perf.streaming.Contender;
import io.framecast.perf.streaming.Scheme;
import java.util.List;

/// A scheme that the models of Chu et al. 2019 describe.
///
/// @param label as users know it
/// @param isWhole whether a hop passes a frame on when it has all of it
/// @param inDevice whether frames come from a device, and are staged in the source's host memory
/// @param equation that says how long it takes
record ModelScheme(String label, Contender contender, boolean isWhole, boolean inDevice, String equation) {
    static final ModelScheme MULTICAST = multicast("multicast", false, "7");
    static final ModelScheme MULTICAST_STAGED = multicast("multicast-staged", true, "8");
    static final ModelScheme RING = whole("ring", Contender.over(Scheme.RING, 0), false, "1");

    static final List<ModelScheme> ALL = List.of(
            MULTICAST,
            MULTICAST_STAGED,
            RING,
            pipeline("ring-pipeline", Contender.over(Scheme.RING, 0), "2"),
            whole("ring-staged", Contender.over(Scheme.RING, 0), true, "3"),
            whole("knomial-2", Contender.over(Scheme.KNOMIAL, 2), false, "4"),
            whole("knomial-2-staged", Contender.over(Scheme.KNOMIAL, 2), true, "5"),
            pipeline("knomial-2-pipeline", Contender.over(Scheme.KNOMIAL, 2), "6"),
            pipeline("knomial-4-pipeline", Contender.over(Scheme.KNOMIAL, 4), "6"),
            whole("unicast", Contender.over(Scheme.UNICAST, 0), false, "1"));

    private static final String DEVICE = "emulated:0";

    private static ModelScheme multicast(final String label, final boolean inDevice, final String equation) {
        return new ModelScheme(label, Contender.framecast("auto"), false, inDevice, equation);
    }

    private static ModelScheme whole(
            final String label, final Contender contender, final boolean inDevice, final String equation) {
        return new ModelScheme(label, contender, true, inDevice, equation);
    }

    private static ModelScheme pipeline(final String label, final Contender contender, final String equation) {
        return new ModelScheme(label, contender, false, false, equation);
    }

    /// The parameters of the equations. Seconds, bytes, bytes per second.
    ///
    /// @param hop over unicast: t_s and B_H
    /// @param frameSeconds what a broadcast by multicast takes besides its datagrams; not in the paper
    /// @param datagram U, 1/a, and B_H with t_s in it
    /// @param toHost of the source's device: B_H2D of the paper, the other way
    /// @param toDevice of the receivers'
    /// @param linkBytesPerSecond of a limited link, which lets a burst through at once; 0 for others
    record Parameters(
            CostModel.Hop hop,
            double frameSeconds,
            CostModel.Multicast datagram,
            CostModel.Hop toHost,
            CostModel.Hop toDevice,
            long linkBytesPerSecond) {}

    static List<ModelScheme> of(final Contender contender) {
        return ALL.stream().filter(scheme -> scheme.contender.equals(contender)).toList();
    }

    /// Names of the devices from which and into which frames go.
    List<String> devices() {
        return List.of(inDevice ? DEVICE : DeviceChoice.HOST);
    }

    /// Bytes that a hop passes on at a time: all of a frame where the scheme is not pipelined.
    int chunkBytes(final int frameBytes, final int chunkBytes) {
        return isWhole ? frameBytes : Math.min(frameBytes, chunkBytes);
    }

    /// Time that a frame saves on a limited link that was idle.
    static double savedSeconds(final int frameBytes, final long linkBytesPerSecond) {
        return linkBytesPerSecond == 0 ? 0 : (double) Math.min(frameBytes, Network.BURST_BYTES) / linkBytesPerSecond;
    }

    /// Time that one broadcast takes. A burst that a limited link lets through at once is no part of the
    /// equations: it is saved once for each link that passes the frame on behind another, and once in a
    /// tree, whose source's link is the longest way. Nor are the first chunk out of the source's device
    /// and the last into a receiver's.
    double seconds(final int processes, final int frameBytes, final int chunkBytes, final Parameters with) {
        final double chunk = chunkBytes(frameBytes, chunkBytes);
        final double saved = savedSeconds(frameBytes, with.linkBytesPerSecond);
        final double copied =
                inDevice ? chunk / with.toHost.bandwidth() + with.toDevice.seconds(Math.min(chunk, chunkBytes)) : 0;
        return copied
                + switch (contender.scheme()) {
                    case Scheme.RING ->
                        CostModel.ring(processes, frameBytes, chunk, with.hop) - (processes - 1) * saved;
                    // As many copies of the frame, one behind the other on the source's link.
                    case Scheme.UNICAST -> CostModel.ring(processes, frameBytes, frameBytes, with.hop) - saved;
                    case Scheme.KNOMIAL ->
                        CostModel.knomial(contender.radix(), processes, frameBytes, chunk, with.hop) - saved;
                    default -> with.frameSeconds + CostModel.multicast(processes, frameBytes, with.datagram) - saved;
                };
    }
}
