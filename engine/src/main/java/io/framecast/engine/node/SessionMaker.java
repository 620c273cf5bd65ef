package io.framecast.engine.node;

import io.framecast.api.Channel;
import io.framecast.api.PlacementOptions.Kind;
import io.framecast.api.PlacementReport;
import io.framecast.api.SourceEvent;
import io.framecast.api.error.ConfigException;
import io.framecast.api.error.DeviceException;
import io.framecast.api.error.TransportException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.OneSided;
import io.framecast.api.spi.ReceiveRing;
import io.framecast.api.spi.Transport;
import io.framecast.api.spi.TransportCapabilities.Placement;
import io.framecast.engine.memory.SystemMemory;
import io.framecast.engine.metrics.Labels;
import io.framecast.engine.sink.DirectReceiveMemory;
import io.framecast.engine.sink.HostReceiveMemory;
import io.framecast.engine.sink.LoopbackQueuePair;
import io.framecast.engine.sink.LossInjector;
import io.framecast.engine.sink.Opened;
import io.framecast.engine.sink.PlacementProbe;
import io.framecast.engine.sink.ReceiveMemory;
import io.framecast.engine.sink.StagedReceiveMemory;
import io.framecast.reliability.ReceiverConfig;
import io.framecast.reliability.ReceiverMachine;
import io.framecast.reliability.assembly.Assembly;
import io.framecast.reliability.assembly.MemoryShape;
import io.framecast.reliability.assembly.ReadSlots;
import io.framecast.reliability.assembly.RepairSlots;
import io.framecast.reliability.lane.LanePort;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.StreamInfo;
import java.security.SecureRandom;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executor;
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
    private final PlacementProbe probe;
    // Found when the first session is opened; null where frames land in host memory.
    private @Nullable PlacementReport way;

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
        probe = new PlacementProbe(channel.stream().placement(), subscriber.device(), transport);
    }

    /// Makes memory, lanes and machine; the handshake is not begun.
    ///
    /// @param conductor runs what the session has made later
    /// @throws UnfitSourceException where what the source says of itself is to blame: listen to another
    /// @throws io.framecast.api.error.FramecastException with one line that names the mend
    SourceLink open(final StreamInfo stream, final Executor conductor) {
        final Kind kind = way();
        final MemoryShape shape = shape(stream, kind);
        final MemoryNeeds needs =
                MemoryNeeds.subscriber(shape, kind, transport.capabilities().headerReserveBytes());
        requireWithinBounds(stream, needs);
        try (Opened opened = new Opened()) {
            requireRoom(needs);
            final ReceiveMemory memory = opened.add(memory(shape, kind));
            final LanePort.Placement placement =
                    Policies.onWire(transport.capabilities().placement());
            final Lane data = opened.add(
                    transport.open(lane(LaneKind.DATA, memory.dataRing(), new LaneAddress(stream.dataAddress()))));
            final Lane repair = opened.add(transport.open(lane(LaneKind.REPAIR, memory.repairRing(), null)));
            final LanePort dataPort = new ReceiveLane(data, placement, shape.batchMax(), loss);
            final LanePort repairPort = new ReceiveLane(repair, placement, RepairSlots.BATCH_MAX, loss);
            final Assembly assembly = Assembly.of(shape, memory);
            final int receiveSlots = assembly.prepare(dataPort);
            final RepairSlots repairs = new RepairSlots(shape, memory);
            final Reaches reaches = opened.add(reaches(stream, repairs.reads(), conductor));
            // A co-root keeps payloads in the host, where direct placement never has them.
            final CoRootService serving = channel.stream().coRoots().serves() && kind != Kind.DIRECT
                    ? opened.add(new CoRootService(
                            new CoRootService.Ways(transport, control),
                            stream,
                            repairs.reads(),
                            context.notices(),
                            conductor))
                    : null;
            final SourceFeed feed = subscriber.openFeed(stream);
            final SourceLink link = new SourceLink(control, feed);
            final LaneAddresses addresses = new LaneAddresses(
                    control.address().toBytes(), repair.address().toBytes(), reaches.descriptor());
            final ReceiverMachine machine = new ReceiverMachine(
                    machineConfig(shape, Math.min(data.receiveCapacity(), receiveSlots), addresses),
                    context.random(),
                    link,
                    serving);
            final CounterBoard counters = opened.add(new CounterBoard(context.counters(), labels(stream)));
            link.attach(new ReceiverSession(
                    machine,
                    memory,
                    assembly,
                    repairs,
                    data,
                    dataPort,
                    repair,
                    repairPort,
                    reaches,
                    serving,
                    feed,
                    subscriber.posted(),
                    channel.stream(),
                    counters));
            opened.keep();
            return link;
        } catch (final DeviceException e) {
            return openOtherwise(stream, conductor, kind, e);
        } catch (final OutOfMemoryError e) {
            final String line =
                    "ring: no room for " + needs.hostBytes() + " bytes in the host and " + needs.deviceBytes()
                            + " on the device; lower ring= or frames-held=, or frame-max= and window= at the source";
            throw channel.stream().ringBytes() > 0 ? new ConfigException(line, e) : new UnfitSourceException(line, e);
        } catch (final TransportException e) {
            throw new UnfitSourceException(Failures.line("join of " + channel.name(), e), e);
        }
    }

    // A ring too long for the window into the device's memory, where a short one could be mapped; or for the
    // card.
    private SourceLink openOtherwise(
            final StreamInfo stream, final Executor conductor, final @Nullable Kind kind, final DeviceException e) {
        if (kind == null || kind == Kind.STAGED) {
            throw e;
        }
        tell(probe.without(kind, e));
        return open(stream, conductor);
    }

    // Once for all sessions, before the memory of the first is counted.
    private @Nullable Kind way() {
        if (!subscriber.device().hostAddressable() && way == null) {
            tell(probe.probe());
        }
        return way == null ? null : way.kind();
    }

    private void tell(final PlacementReport report) {
        way = report;
        subscriber.onPlacement(report);
        context.notices().accept("placement of " + channel.name() + ": " + report);
    }

    // Staged copies free landing slots by themselves. Elsewhere a datagram that comes without credit needs a
    // slot of the ring.
    private MemoryShape shape(final StreamInfo stream, final @Nullable Kind kind) {
        final MemoryShape.Kind shape = kind == null
                ? transport.capabilities().placement() == Placement.BY_ARRIVAL
                        ? MemoryShape.Kind.BY_ARRIVAL
                        : MemoryShape.Kind.IN_RING
                : kind == Kind.DIRECT ? MemoryShape.Kind.BY_ARRIVAL : MemoryShape.Kind.STAGED;
        final int spareSlots = shape == MemoryShape.Kind.STAGED ? 0 : spareSlots(stream);
        return MemoryShape.of(
                stream, shape, ringSlots(stream, spareSlots), spareSlots, transport.oneSided() != null, framesHeld());
    }

    private ReceiveMemory memory(final MemoryShape shape, final @Nullable Kind kind) {
        final DeviceBackend device = subscriber.device();
        final int reserve = transport.capabilities().headerReserveBytes();
        return switch (kind) {
            case null -> new HostReceiveMemory(shape, device, reserve);
            case DIRECT -> direct(shape, device, reserve);
            case LOOPBACK -> StagedReceiveMemory.byNic(shape, device, reserve, nic());
            case AUTO, FASTCOPY, STAGED ->
                new StagedReceiveMemory(
                        shape, device, reserve, Objects.requireNonNull(way).fastcopyMaxBytes());
        };
    }

    private LoopbackQueuePair nic() {
        return new LoopbackQueuePair(Objects.requireNonNull(transport.oneSided()), context.notices());
    }

    // All of the ring, before a lane is refused for it.
    private ReceiveMemory direct(final MemoryShape shape, final DeviceBackend device, final int reserve) {
        try (Opened opened = new Opened()) {
            final ReceiveMemory memory = opened.add(new DirectReceiveMemory(shape, device, reserve));
            final Optional<String> refusal =
                    transport.canReceiveInto(memory.dataRing().payload());
            if (refusal.isPresent()) {
                throw new DeviceException(refusal.get());
            }
            opened.keep();
            return memory;
        }
    }

    private int framesHeld() {
        return channel.stream().framesHeld();
    }

    // One source needs no name; and so its counters have the same through all its sessions.
    private String labels(final StreamInfo stream) {
        final String name = Labels.of("channel", channel.name());
        return channel.stream().sources().count() == 1
                ? name
                : Labels.join(name, Labels.of("session", SourceEvent.sessionText(stream.session())));
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

    // A device that cannot is no reason not to join.
    private Reaches reaches(final StreamInfo stream, final @Nullable ReadSlots slots, final Executor conductor) {
        final OneSided oneSided = transport.oneSided();
        if (oneSided == null) {
            return Reaches.NONE;
        }
        try (Opened opened = new Opened()) {
            final PullLanding landing = slots == null ? null : landing(oneSided, slots, opened);
            final boolean guarded =
                    !Policies.onWire(channel.stream().delivery()).isWaitedFor();
            final SourceReach source = new SourceReach(oneSided, stream, landing, guarded, context.notices());
            final SetReach set =
                    landing == null ? null : new SetReach(oneSided, stream, landing, conductor, context.notices());
            opened.keep();
            return new Reaches(landing, source, set);
        } catch (final TransportException e) {
            context.notices()
                    .accept("subscriber of " + channel.name() + ": credit and repair go by datagram: "
                            + e.getMessage());
            return Reaches.NONE;
        }
    }

    // Memory that cannot be registered once more is no reason not to write grants.
    private @Nullable PullLanding landing(final OneSided oneSided, final ReadSlots slots, final Opened opened) {
        try {
            return opened.add(new PullLanding(oneSided, slots));
        } catch (final TransportException e) {
            context.notices()
                    .accept("subscriber of " + channel.name() + ": repair goes by datagram: " + e.getMessage());
            return null;
        }
    }

    private ReceiverConfig machineConfig(final MemoryShape memory, final int capacity, final LaneAddresses addresses) {
        return new ReceiverConfig(
                memory.stream(),
                secrets.nextLong() | 1,
                memory.ringSlots() - memory.spareSlots(),
                capacity,
                channel.stream().reorderDatagrams(),
                Policies.onWire(channel.stream().delivery()),
                addresses,
                Sites.number(channel.stream().coRoots().site()));
    }

    // A source that does not wait sends without credit too: what comes then must land somewhere, or the
    // transport fills up with what is old.
    private int spareSlots(final StreamInfo stream) {
        return Policies.onWire(channel.stream().delivery()).isWaitedFor()
                ? 0
                : MemoryShape.batchMax(stream.slotBytes());
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
