package io.framecast.perf.streaming;

import io.framecast.perf.harness.DeviceChoice;
import io.framecast.perf.models.CostModel;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The models' prediction of one row, made from the parameters of its run.
///
/// One broadcast alone takes what its equation says, with the parts around it that the equation leaves out
/// because the network writes into the GPU by itself there: the last chunk's copy into a receiver's device,
/// and the source's first chunk. Back to back, all of these run beside one another: the slowest decides.
///
/// Copies in the background leave frames the rest of the link, but half of it at least.
///
/// @param MBps back to back
/// @param latencyUs of one alone
/// @param equation of Chu et al. 2019
record Prediction(double MBps, double latencyUs, String equation) {
    private static final double US = 1e6;
    private static final double MB = 1e6;
    private static final String FASTCOPY = "fastcopy";
    private static final Set<String> PLACEMENTS = Set.of(Scheme.STAGED, FASTCOPY, "direct", DeviceChoice.HOST);

    /// Frames come into the receivers' devices by copies of the device (`staged`), by the CPU over the same link
    /// (`fastcopy`), or by the network itself (`direct`, and `host` memory).
    ///
    /// @return null where there is no equation for a row's placement
    static @Nullable Prediction of(final StreamingRow row, final ModelParameters parameters) {
        final String placement = row.placement();
        if (!PLACEMENTS.contains(placement)) {
            return null;
        }
        final StreamingPlan plan = row.plan();
        final double frame = plan.frameBytes();
        final double chunk = Math.min(plan.chunkBytes(), frame);
        // Devices' worth of frames that go over one link.
        final int sharers = plan.deviceOfSource().isEmulated()
                ? 1
                : Math.ceilDiv(row.setting().subscribers(), plan.devices().size());
        final Direction direction = row.setting().direction();
        final double background = plan.backgroundBytesPerSecond();
        final boolean staged = placement.equals(Scheme.STAGED);
        final boolean sourceInDevice = plan.sourceInDevice() && !placement.equals(DeviceChoice.HOST);
        final double in = staged || placement.equals(FASTCOPY)
                ? free(parameters.toDevice().bandwidth(), direction.atReceiver().toDevice(), background) / sharers
                : Double.POSITIVE_INFINITY;
        final double out = sourceInDevice
                ? free(parameters.toHost().bandwidth(), direction.atSource().toHost(), background)
                : Double.POSITIVE_INFINITY;
        final Sending sending = sending(row, parameters, frame);
        final double first = chunk / out;
        final double last = chunk / in + (staged ? parameters.toDevice().setUpSeconds() : 0);
        // Frames cannot arrive faster than they are copied on.
        final double slowest = Math.max(frame / in, frame / out);
        final double alone = first + Math.max(sending.lone, slowest) + last;
        final double each = Math.max(sending.each, slowest);
        return new Prediction(frame / each / MB, alone * US, sending.equation);
    }

    /// The network's part.
    ///
    /// @param lone one broadcast
    /// @param each one of many back to back: the pipeline stays full
    private record Sending(double lone, double each, String equation) {}

    private static Sending sending(final StreamingRow row, final ModelParameters parameters, final double frame) {
        final double chunk = Math.min(row.plan().chunkBytes(), frame);
        final int processes = row.setting().subscribers() + 1;
        final CostModel.Hop hop = parameters.unicast();
        return switch (row.contender().scheme()) {
            case Scheme.RING ->
                new Sending(CostModel.ring(processes, frame, chunk, hop), CostModel.ring(2, frame, chunk, hop), "2");
            // Eq. 1 with one copy of the frame after the other on the source's link, not from receiver to receiver.
            case Scheme.UNICAST -> {
                final double seconds = CostModel.ring(processes, frame, frame, hop);
                yield new Sending(seconds, seconds, "1");
            }
            case Scheme.KNOMIAL -> {
                final double seconds = CostModel.knomial(row.contender().radix(), processes, frame, chunk, hop);
                yield new Sending(seconds, seconds, "6");
            }
            default -> {
                final double seconds = CostModel.multicast(processes, frame, parameters.multicast());
                yield new Sending(seconds, seconds, "7");
            }
        };
    }

    private static double free(final double bandwidth, final boolean shared, final double background) {
        if (!shared) {
            return bandwidth;
        }
        return background == 0 ? bandwidth / 2 : Math.max(bandwidth - background, bandwidth / 2);
    }
}
