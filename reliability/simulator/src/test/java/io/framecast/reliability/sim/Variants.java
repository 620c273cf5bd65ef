package io.framecast.reliability.sim;

import io.framecast.reliability.sim.plan.FaultMix;
import io.framecast.reliability.sim.plan.SimOptions;
import io.framecast.reliability.sim.plan.SimOptions.Audience;
import io.framecast.reliability.sim.plan.SimOptions.Flow;
import io.framecast.reliability.sim.plan.SimOptions.Stream;

/// Options of runs as only tests want them.
final class Variants {
    private Variants() {}

    private static SimOptions of(
            final SimOptions options,
            final Stream stream,
            final Flow flow,
            final Audience audience,
            final FaultMix faults) {
        return new SimOptions(options.receivers(), stream, flow, audience, options.link(), faults, options.plant());
    }

    /// The publisher aborts the last frame half-way and closes.
    static SimOptions torn(final SimOptions options) {
        final Stream stream = options.stream();
        final Stream torn = new Stream(
                stream.slotBytes(),
                stream.windowSlots(),
                stream.frames(),
                stream.frameMaxSlots(),
                stream.frameBytes(),
                stream.firstFrameId(),
                true,
                stream.formatFrames());
        return of(options, torn, options.flow(), options.audience(), options.faults());
    }

    /// Frames at equal intervals, so that the source sends for this share of the time.
    static SimOptions loaded(final SimOptions options, final double share) {
        final Flow flow = options.flow();
        final Flow loaded = new Flow(
                flow.receiveCapacity(), flow.batchMax(), flow.framesHeld(), flow.byArrival(), flow.datagramNs(), share);
        return of(options, options.stream(), loaded, options.audience(), options.faults());
    }

    /// Some receivers are not waited for, or evicted when they are slow.
    static SimOptions impatient(final SimOptions options, final double share, final long keepNs) {
        final Audience audience = options.audience();
        final Audience impatient = new Audience(
                share,
                keepNs,
                audience.coRoots(),
                audience.oneSided(),
                audience.direct(),
                audience.hostGroup(),
                audience.sites());
        return of(options, options.stream(), options.flow(), impatient, options.faults());
    }

    static SimOptions with(final SimOptions options, final FaultMix faults) {
        return of(options, options.stream(), options.flow(), options.audience(), faults);
    }
}
