package io.framecast.engine.node;

import io.framecast.api.Channel;
import io.framecast.api.error.ConfigException;
import io.framecast.api.error.TransportException;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.ReceiveRing;
import io.framecast.api.spi.Transport;
import io.framecast.api.spi.TransportCapabilities.Placement;
import io.framecast.engine.memory.SystemMemory;
import io.framecast.engine.metrics.Labels;
import io.framecast.engine.sink.HostSink;
import io.framecast.engine.sink.LossInjector;
import io.framecast.engine.sink.Opened;
import io.framecast.engine.sink.PayloadSink;
import io.framecast.engine.sink.SinkConfig;
import io.framecast.engine.sink.StagedSink;
import io.framecast.reliability.ReceiverConfig;
import io.framecast.reliability.ReceiverMachine;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.StreamInfo;
import java.security.SecureRandom;
import org.jspecify.annotations.Nullable;

/// Makes a subscription's part in a session: memory within bounds, lanes, machine. By the conductor.
final class SessionMaker {
    private static final int SLOTS_MAX = 1 << 24;

    private final EngineSubscriber subscriber;
    private final Channel channel;
    private final Transport transport;
    private final SessionContext context;
    private final ControlLane control;
    private final LossInjector loss;
    private final SecureRandom secrets = new SecureRandom();

    /// @param control the subscription's, which all its sessions speak by
    SessionMaker(
            final EngineSubscriber subscriber,
            final Transport transport,
            final SessionContext context,
            final ControlLane control,
            final LossInjector loss) {
        this.subscriber = subscriber;
        this.transport = transport;
        this.context = context;
        this.control = control;
        this.loss = loss;
        channel = subscriber.channel();
    }

    /// Makes memory, lanes and machine; the handshake is not begun.
    ///
    /// @throws UnfitSourceException where what the source says of itself is to blame: listen to another
    /// @throws io.framecast.api.error.FramecastException with one line that names the mend
    SourceLink open(final StreamInfo stream) {
        final Placement placement = transport.capabilities().placement();
        final boolean inPlace = subscriber.device().hostAddressable() && placement == Placement.AIMED;
        final int spareSlots = inPlace ? spareSlots(stream) : 0;
        final SinkConfig config = new SinkConfig(
                stream,
                ringSlots(stream, spareSlots),
                spareSlots,
                transport.capabilities().headerReserveBytes(),
                subscriber.device(),
                loss);
        final MemoryNeeds needs = inPlace ? MemoryNeeds.inPlace(config) : MemoryNeeds.staged(config);
        requireWithinBounds(stream, needs);
        try (Opened opened = new Opened()) {
            requireRoom(needs);
            final PayloadSink sink = opened.add(inPlace ? new HostSink(config) : new StagedSink(config));
            final Lane data = opened.add(
                    transport.open(lane(LaneKind.DATA, sink.dataRing(), new LaneAddress(stream.dataAddress()))));
            final Lane repair = opened.add(transport.open(lane(LaneKind.REPAIR, sink.repairRing(), null)));
            sink.attach(data, repair, placement);
            final CoRootService serving = channel.stream().coRoots().serves()
                    ? opened.add(new CoRootService(transport, control, stream, context.notices()))
                    : null;
            final SourceFeed feed = subscriber.openFeed(stream.session());
            final SourceLink link = new SourceLink(control, feed);
            final ReceiverMachine machine =
                    new ReceiverMachine(machineConfig(config, sink, data, repair), context.random(), link, serving);
            final CounterBoard counters = opened.add(new CounterBoard(context.counters(), labels(stream)));
            link.attach(new ReceiverSession(
                    new SessionParts(machine, sink, data, repair, serving, config.ringSlots(), spareSlots),
                    feed,
                    subscriber.posted(),
                    channel.stream(),
                    counters));
            opened.keep();
            return link;
        } catch (final OutOfMemoryError e) {
            final String line =
                    "ring: no room for " + needs.hostBytes() + " bytes in the host and " + needs.deviceBytes()
                            + " on the device; lower ring= or frames-held=, or frame-max= and window= at the source";
            throw channel.stream().ringBytes() > 0 ? new ConfigException(line, e) : new UnfitSourceException(line, e);
        } catch (final TransportException e) {
            throw new UnfitSourceException(Failures.line("join of " + channel.name(), e), e);
        }
    }

    // One source needs no name; and so its counters have the same through all its sessions.
    private String labels(final StreamInfo stream) {
        final String name = Labels.of("channel", channel.name());
        return channel.stream().sources().count() == 1
                ? name
                : Labels.join(name, Labels.of("session", Long.toHexString(stream.session())));
    }

    // Whoever speaks on the group must not decide how much memory this subscriber takes.
    private void requireWithinBounds(final StreamInfo stream, final MemoryNeeds needs) {
        final long given = channel.stream().ringMaxBytes();
        final long most = given > 0 ? given : ringMaxDefault();
        if (needs.totalBytes() > most && channel.stream().ringBytes() == 0) {
            throw new UnfitSourceException(
                    "ring-max: a source of frame-max=" + stream.frameMaxBytes() + " wants " + needs.totalBytes()
                            + " bytes here, ring-max is " + most
                            + "; enlarge ring-max=, or lower frame-max= or window= at the source",
                    null);
        }
    }

    // Before anything is taken: pinned and landing memory as well, whoever allocates it.
    private void requireRoom(final MemoryNeeds needs) {
        SystemMemory.require(needs.hostBytes());
        if (needs.deviceBytes() > subscriber.device().availableBytes()) {
            throw new OutOfMemoryError(needs.deviceBytes() + " bytes wanted on the device");
        }
    }

    private long ringMaxDefault() {
        final long device = subscriber.device().availableBytes();
        return (device == Long.MAX_VALUE ? SystemMemory.availableBytes() : device) / 4;
    }

    private static LaneConfig lane(final LaneKind kind, final ReceiveRing ring, final @Nullable LaneAddress peer) {
        return new LaneConfig(kind, LaneConfig.Role.RECEIVER, null, ring, peer);
    }

    private ReceiverConfig machineConfig(
            final SinkConfig memory, final PayloadSink sink, final Lane data, final Lane repair) {
        return new ReceiverConfig(
                memory.stream(),
                secrets.nextLong() | 1,
                memory.ringSlots() - memory.spareSlots(),
                Math.min(data.receiveCapacity(), sink.receiveSlots()),
                channel.stream().reorderDatagrams(),
                Policies.onWire(channel.stream().delivery()),
                new LaneAddresses(control.address().toBytes(), repair.address().toBytes()),
                Sites.number(channel.stream().coRoots().site()));
    }

    // A source that does not wait sends without credit too: what comes then must land somewhere, or the transport
    // fills up with what is old.
    private int spareSlots(final StreamInfo stream) {
        return Policies.onWire(channel.stream().delivery()).isWaitedFor() ? 0 : SinkConfig.batchMax(stream.slotBytes());
    }

    private int ringSlots(final StreamInfo stream, final int spareSlots) {
        final long needed = spareSlots
                + ReceiverConfig.ringSlotsMin(stream, channel.stream().framesHeld());
        final long asked = channel.stream().ringBytes() / stream.slotBytes();
        if (channel.stream().ringBytes() > 0 && asked < needed) {
            throw new ConfigException("ring: expected at least " + needed * stream.slotBytes() + " bytes for frame-max "
                    + stream.frameMaxBytes() + ", got " + channel.stream().ringBytes()
                    + "; enlarge ring= or leave it out");
        }
        // Multiples of 64 slots of multiples of 64 bytes are whole pages.
        final long slots = (Math.max(asked, needed) + 63) / 64 * 64;
        if (slots > SLOTS_MAX) {
            final String line = "ring: expected at most " + SLOTS_MAX + " slots of " + stream.slotBytes()
                    + " bytes, got " + slots + "; lower ring= or frames-held=, or frame-max= at the source";
            throw asked > SLOTS_MAX ? new ConfigException(line) : new UnfitSourceException(line, null);
        }
        return (int) slots;
    }
}
