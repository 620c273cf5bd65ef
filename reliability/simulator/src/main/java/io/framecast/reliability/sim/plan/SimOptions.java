package io.framecast.reliability.sim.plan;

import io.framecast.reliability.send.CoRootConfig;
import java.util.random.RandomGenerator;

/// The options of one simulated run.
///
/// @param receivers at the start; late joiners are among them
/// @param stream the published stream
/// @param flow rates, batches and placement
/// @param audience delivery policies and co-roots
/// @param link faults of links; restless runs vary them for each
/// @param faults faults of processes and whole links
/// @param plant the injected bug
public record SimOptions(
        int receivers, Stream stream, Flow flow, Audience audience, LinkSpec link, FaultMix faults, Plant plant) {
    public static final int BUFFERS_MAX = 3;

    /// The published stream.
    ///
    /// @param slotBytes a multiple of 64
    /// @param windowSlots a power of two
    /// @param frames to publish
    /// @param frameMaxSlots longest frame, in slots
    /// @param frameBytes length of every frame, 0 for random ones
    /// @param firstFrameId number of the first frame
    /// @param tornEnd whether the publisher aborts the last frame half-way and closes
    /// @param formatFrames frames between two changes of their format, in the mean; 0: frames without a format
    public record Stream(
            int slotBytes,
            int windowSlots,
            int frames,
            int frameMaxSlots,
            long frameBytes,
            long firstFrameId,
            boolean tornEnd,
            int formatFrames) {
        public long frameMaxBytes() {
            return (long) frameMaxSlots * slotBytes;
        }

        Stream changing(final int mean) {
            return new Stream(slotBytes, windowSlots, frames, frameMaxSlots, frameBytes, firstFrameId, tornEnd, mean);
        }

        /// Frames of one length, slots and windows to fit.
        Stream of(final long bytes, final int slot, final int window) {
            final int slots = (int) ((bytes + slot - 1) / slot);
            return new Stream(slot, window, frames, slots, bytes, firstFrameId, tornEnd, formatFrames);
        }
    }

    /// Rates, batches and placement.
    ///
    /// @param receiveCapacity datagrams under way to a receiver; its queues are at least as long
    /// @param batchMax datagrams per batch, sent and received
    /// @param framesHeld frames a user keeps at once
    /// @param byArrival share of receivers whose ring is filled in order of arrival
    /// @param datagramNs time the source takes per datagram
    /// @param load share of that time in which it sends, frames at equal intervals; 0: as fast as it can
    public record Flow(
            int receiveCapacity, int batchMax, int framesHeld, double byArrival, long datagramNs, double load) {
        Flow of(final int capacity, final int held, final double share) {
            return new Flow(capacity, batchMax, held, share, datagramNs, load);
        }

        Flow at(final long timeNs, final int batch) {
            return new Flow(receiveCapacity, batch, framesHeld, byArrival, timeNs, load);
        }
    }

    /// Delivery policies and co-roots.
    ///
    /// @param impatient share of receivers whose delivery is not reliable
    /// @param dwellNs how long these keep each frame; 0: as reliable receivers do
    /// @param coRoots number and feed of co-roots
    /// @param oneSided share of receivers that act on their source's memory
    /// @param direct share of these whose payloads land where they cannot read them: fed co-roots
    /// @param hostGroup processes of each receiver's host
    /// @param sites whether receivers are of one of three sites each; else of none
    public record Audience(
            double impatient,
            long dwellNs,
            CoRootConfig coRoots,
            double oneSided,
            double direct,
            int hostGroup,
            boolean sites) {
        Audience reaching(final double share) {
            return new Audience(impatient, dwellNs, coRoots, share, direct, hostGroup, sites);
        }

        Audience placingDirect(final double share) {
            return new Audience(impatient, dwellNs, coRoots, oneSided, share, hostGroup, sites);
        }

        public int siteOf(final int drawn) {
            return sites ? drawn : 0;
        }

        Audience helped(final CoRootConfig value, final boolean bySite) {
            return new Audience(impatient, dwellNs, value, oneSided, direct, hostGroup, bySite);
        }
    }

    /// A quiet run: clean links, and receivers that neither come nor go nor dwell.
    public static SimOptions quiet(final int receivers, final int frames) {
        return new SimOptions(
                receivers,
                new Stream(64, 64, frames, 24, 0, 0, false, 0),
                new Flow(32, 16, 2, 0.5, 1_000, 0),
                new Audience(0, 0, CoRootConfig.NONE, 0, 0, 1, true),
                LinkSpec.CLEAN,
                FaultMix.NONE,
                Plant.NONE);
    }

    /// Draws the options of a seed. Each fault is absent, mild or wild. So some runs have only few kinds of
    /// faults, and find errors that a mixture would hide.
    public static SimOptions draw(final RandomGenerator random, final Swarm swarm) {
        final int window = 16 << random.nextInt(4);
        final int capacity = 4 << random.nextInt(5);
        final SimOptions drawn = new SimOptions(
                swarm.receivers(),
                drawStream(random, window),
                new Flow(
                        capacity,
                        1 + random.nextInt(64),
                        1 + random.nextInt(3),
                        random.nextInt(3) / 2.0,
                        200L << random.nextInt(6),
                        0),
                drawAudience(random, swarm),
                drawLink(random, swarm.loss(), Math.max(8, capacity)),
                FaultMix.draw(random, swarm.crashes()),
                Plant.NONE);
        // Behind all else, so that a seed draws the same of it as before.
        return drawReach(random, swarm, drawn).withFormats(random.nextInt(2) * (1 + random.nextInt(6)));
    }

    private static SimOptions drawReach(final RandomGenerator random, final Swarm swarm, final SimOptions drawn) {
        if (swarm.direct()) {
            return drawn.withOneSided(1).withDirect((1 + random.nextInt(4)) / 4.0);
        }
        return swarm.oneSided() ? drawn.withOneSided((1 + random.nextInt(2)) / 2.0) : drawn;
    }

    private static Audience drawAudience(final RandomGenerator random, final Swarm swarm) {
        final int receivers = swarm.receivers();
        final CoRootConfig coRoots = new CoRootConfig(
                random.nextInt(3) == 0 ? 0 : 1 + random.nextInt(Math.max(1, receivers / 2)),
                random.nextInt(4) == 0 ? CoRootConfig.Feed.UNICAST : CoRootConfig.Feed.MULTICAST);
        final boolean sites = random.nextBoolean();
        // With co-roots most receivers are reliable, because others are not assigned to groups.
        final double impatient = coRoots.count() > 0 ? random.nextInt(3) / 4.0 : random.nextInt(3) / 2.0;
        final double share = swarm.hostGroup() > 1 && !swarm.mixed() ? 0 : impatient;
        final long dwellNs = random.nextInt(4) == 0 ? random.nextLong(200_000_000) : 0;
        return new Audience(share, dwellNs, coRoots, 0, 0, swarm.hostGroup(), sites);
    }

    private static Stream drawStream(final RandomGenerator random, final int window) {
        return new Stream(
                64 << random.nextInt(4),
                window,
                10 + random.nextInt(40),
                1 + random.nextInt(random.nextInt(4) == 0 ? 2 * window : 16),
                0,
                random.nextInt(8) == 0 ? (1L << 32) - random.nextInt(40) : 0,
                random.nextInt(8) == 0,
                0);
    }

    private static LinkSpec drawLink(final RandomGenerator random, final double loss, final int queue) {
        final long delayNs = 2_000L << random.nextInt(10);
        return new LinkSpec(
                loss >= 0 ? loss : weight(random, 0.1),
                weight(random, 0.01),
                weight(random, 0.05),
                weight(random, 0.1),
                weight(random, 0.01),
                weight(random, 0.003),
                delayNs,
                random.nextInt(2) * delayNs / 2,
                queue * (1 + random.nextInt(2)));
    }

    private static double weight(final RandomGenerator random, final double wild) {
        return switch (random.nextInt(3)) {
            case 0 -> 0;
            case 1 -> wild / 10;
            default -> wild * random.nextDouble();
        };
    }

    /// Frames of one length, slots and windows to fit.
    public SimOptions withFrames(final long bytes, final int slot, final int window) {
        final Stream changed = stream.of(bytes, slot, window);
        return new SimOptions(receivers, changed, flow, audience, link, faults, plant);
    }

    /// Frames change their format after so many, in the mean; 0: they have none.
    public SimOptions withFormats(final int frames) {
        return new SimOptions(receivers, stream.changing(frames), flow, audience, link, faults, plant);
    }

    public SimOptions withReceivers(final int count) {
        return new SimOptions(count, stream, flow, audience, link, faults, plant);
    }

    public SimOptions withFlow(final int capacity, final int held, final double share) {
        return new SimOptions(receivers, stream, flow.of(capacity, held, share), audience, link, faults, plant);
    }

    /// A source's link on which a datagram takes that long, and that takes so many at a time.
    public SimOptions withSourceRate(final long datagramNs, final int batchMax) {
        return new SimOptions(receivers, stream, flow.at(datagramNs, batchMax), audience, link, faults, plant);
    }

    public SimOptions withCoRoots(final CoRootConfig value) {
        final Audience changed = audience.helped(value, audience.sites);
        return new SimOptions(receivers, stream, flow, changed, link, faults, plant);
    }

    /// Repair groups of receivers in the order of their joining.
    public SimOptions withoutSites() {
        final Audience changed = audience.helped(audience.coRoots, false);
        return new SimOptions(receivers, stream, flow, changed, link, faults, plant);
    }

    /// Some receivers write their grants into their source's memory, and read out of its window.
    public SimOptions withOneSided(final double share) {
        return new SimOptions(receivers, stream, flow, audience.reaching(share), link, faults, plant);
    }

    /// That share of the receivers with endpoints serves from a replica that the source writes, and only so.
    public SimOptions withDirect(final double share) {
        return new SimOptions(receivers, stream, flow, audience.placingDirect(share), link, faults, plant);
    }

    /// Each receiver is a host of that many processes, which share one membership.
    public SimOptions withHostGroup(final int processes) {
        final Audience changed = new Audience(
                0, audience.dwellNs, audience.coRoots, audience.oneSided, audience.direct, processes, audience.sites);
        return new SimOptions(receivers, stream, flow, changed, link, faults, plant);
    }

    public SimOptions withLink(final LinkSpec value) {
        return new SimOptions(receivers, stream, flow, audience, value, faults, plant);
    }

    public SimOptions withPlant(final Plant value) {
        return new SimOptions(receivers, stream, flow, audience, link, faults, value);
    }
}
