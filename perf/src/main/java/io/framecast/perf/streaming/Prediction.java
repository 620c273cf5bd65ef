package io.framecast.perf.streaming;

import java.util.Set;

/// What the models say of one row, made from the parameters of its run.
///
/// One broadcast alone takes what its equation says, with the parts around it that the equation leaves out
/// because the network writes into the GPU by itself there: the last chunk's copy into a receiver's device,
/// and the source's first chunk. Back to back, all of these run beside one another: the slowest decides.
///
/// Copies in the background leave frames the rest of the link, but half of it at least.
///
/// @param MBps back to back
/// @param latencyUs of one alone
/// @param equation of seed 000
record Prediction(double MBps, double latencyUs, String equation) {
    private static final double US = 1e6;
    private static final double MB = 1e6;
    private static final String FASTCOPY = "fastcopy";
    private static final Set<String> PLACEMENTS = Set.of(Scheme.STAGED, FASTCOPY, "direct", DeviceChoice.HOST);

    /// What is predicted.
    ///
    /// @param placement how frames come into the receivers' devices: by copies of the device (`staged`), by the
    ///     CPU over the same link (`fastcopy`), or by the network itself (`direct`, and `host` memory)
    /// @param sharers devices' worth of frames that go over one link
    record Question(StreamingCase setting, int frameBytes, boolean sourceInDevice, String placement, int sharers) {
        boolean staged() {
            return placement.equals(Scheme.STAGED);
        }

        boolean crossesLink() {
            return staged() || placement.equals(FASTCOPY);
        }
    }

    /// Whether there is an equation for a placement.
    static boolean covers(final String placement) {
        return PLACEMENTS.contains(placement);
    }

    static Prediction of(final Question question, final StreamingPlan plan, final ModelParameters parameters) {
        final StreamingCase setting = question.setting;
        final double frame = question.frameBytes;
        final double chunk = Math.min(plan.way().chunkBytes(), frame);
        final Direction direction = setting.direction();
        final double background = plan.backgroundBytesPerSecond();
        final double in = question.crossesLink()
                ? free(parameters.toDevice().bandwidth(), direction.atReceiver().toDevice(), background)
                        / question.sharers
                : Double.POSITIVE_INFINITY;
        final double out = question.sourceInDevice
                ? free(parameters.toHost().bandwidth(), direction.atSource().toHost(), background)
                : Double.POSITIVE_INFINITY;
        final Sending sending = sending(setting, plan, parameters, frame);
        final double first = chunk / out;
        final double last =
                chunk / in + (question.staged() ? parameters.toDevice().setUpSeconds() : 0);
        // Frames cannot arrive faster than they are copied on.
        final double slowest = Math.max(frame / in, frame / out);
        final double alone = first + Math.max(sending.lone, slowest) + last;
        final double each = Math.max(sending.each, Math.max(frame / in, frame / out));
        return new Prediction(frame / each / MB, alone * US, sending.equation);
    }

    /// The network's part.
    ///
    /// @param lone one broadcast
    /// @param each one of many back to back: the pipeline stays full
    private record Sending(double lone, double each, String equation) {}

    private static Sending sending(
            final StreamingCase setting,
            final StreamingPlan plan,
            final ModelParameters parameters,
            final double frame) {
        final double chunk = Math.min(plan.way().chunkBytes(), frame);
        final int processes = setting.subscribers() + 1;
        final CostModel.Hop hop = parameters.unicast();
        final int radix = plan.way().radix();
        return switch (setting.contender().scheme()) {
            case Scheme.RING ->
                new Sending(
                        CostModel.ringPipelined(processes, frame, chunk, hop),
                        CostModel.ringPipelined(2, frame, chunk, hop),
                        "2");
            case Scheme.KNOMIAL -> {
                final double seconds = CostModel.knomialPipelined(radix, processes, frame, chunk, hop);
                yield new Sending(seconds, seconds, "6");
            }
            default -> {
                final double seconds = CostModel.multicast(processes, frame, parameters.multicast());
                yield new Sending(seconds, seconds, "8");
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
