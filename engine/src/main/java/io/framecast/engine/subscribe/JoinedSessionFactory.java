package io.framecast.engine.subscribe;

import io.framecast.api.Channel;
import io.framecast.api.PlacementOptions.Kind;
import io.framecast.api.error.ConfigException;
import io.framecast.api.error.DeviceException;
import io.framecast.api.error.TransportException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.OneSided;
import io.framecast.api.spi.Transport;
import io.framecast.api.spi.TransportCapabilities.Placement;
import io.framecast.engine.memory.NumaPolicy;
import io.framecast.engine.memory.RollbackOnFailure;
import io.framecast.engine.memory.SystemMemory;
import io.framecast.engine.session.Failures;
import io.framecast.engine.session.MemoryNeeds;
import io.framecast.engine.session.Policies;
import io.framecast.engine.session.SessionContext;
import io.framecast.engine.sink.DirectReceiveMemory;
import io.framecast.engine.sink.HostReceiveMemory;
import io.framecast.engine.sink.LoopbackQueuePair;
import io.framecast.engine.sink.ReceiveMemory;
import io.framecast.engine.sink.StagedReceiveMemory;
import io.framecast.engine.subscribe.lanes.SessionLanes;
import io.framecast.engine.subscribe.lanes.SubscriptionLanes;
import io.framecast.engine.subscribe.protect.Admission;
import io.framecast.reliability.assembly.MemoryShape;
import io.framecast.reliability.receive.ReceiverConfig;
import io.framecast.reliability.wire.StreamInfo;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/// Makes a subscription's part in a session: memory within bounds, lanes, machine. Used by the conductor.
final class JoinedSessionFactory {
    private static final int SLOTS_MAX = 1 << 24;

    private final EngineSubscriber subscriber;
    private final SessionContext context;
    private final SubscriptionLanes lanes;
    private final PlacementChoice placement;
    private final Channel channel;
    private final Transport transport;

    /// @param lanes the subscription's
    JoinedSessionFactory(
            final EngineSubscriber subscriber, final SessionContext context, final SubscriptionLanes lanes) {
        this(subscriber, context, lanes, new PlacementChoice(subscriber, lanes.transport(), context.notices()));
    }

    private JoinedSessionFactory(
            final EngineSubscriber subscriber,
            final SessionContext context,
            final SubscriptionLanes lanes,
            final PlacementChoice placement) {
        this.subscriber = subscriber;
        this.context = context;
        this.lanes = lanes;
        this.placement = placement;
        channel = subscriber.channel();
        transport = lanes.transport();
    }

    /// The same, for sessions whose later tasks another conductor runs.
    JoinedSessionFactory conductedBy(final Executor conductor) {
        return new JoinedSessionFactory(subscriber, context, lanes.conductedBy(conductor), placement);
    }

    /// Makes memory, lanes and machine; the handshake is not begun.
    ///
    /// @param admission to the source's session, which owns it
    /// @param membership to begin with it
    /// @throws IncompatibleSourceException where the source's announced configuration is the cause: listen for
    ///     another source
    /// @throws io.framecast.api.error.FramecastException with one line that says how to fix the problem
    JoinedSession open(final StreamInfo stream, final Admission admission, final Membership membership) {
        final Kind kind = placement.of(stream);
        final MemoryShape shape = shape(stream, kind, membership);
        final MemoryNeeds needs =
                MemoryNeeds.subscriber(shape, kind, transport.capabilities().headerReserveBytes());
        requireWithinBounds(stream, needs);
        try (RollbackOnFailure opened = new RollbackOnFailure();
                NumaPolicy _ = context.memoryPolicy()) {
            requireRoom(needs);
            final ReceiveMemory memory = opened.add(memory(shape, kind, membership));
            final SessionLanes own = opened.add(new SessionLanes(
                    lanes,
                    shape,
                    memory,
                    admission.receiverId(),
                    channel.stream().coRoots().serves()));
            final JoinedSession session =
                    new JoinedSession(subscriber, context, shape, memory, own, admission, membership);
            opened.keep();
            membership.onOpened(memory, lanes.conductor());
            return session;
        } catch (final DeviceException e) {
            if (kind == null || kind == Kind.STAGED) {
                throw e;
            }
            placement.onFailed(kind, e);
            return open(stream, admission, membership);
        } catch (final OutOfMemoryError e) {
            throw noRoom(needs, e);
        } catch (final TransportException e) {
            throw new IncompatibleSourceException(Failures.line("join of " + channel.name(), e), e);
        }
    }

    private RuntimeException noRoom(final MemoryNeeds needs, final OutOfMemoryError cause) {
        final String line = "ring: no room for " + needs.hostBytes() + " bytes in the host and " + needs.deviceBytes()
                + " on the device; lower ring= or frames-held=, or frame-max= and window= at the source";
        return channel.stream().ringBytes() > 0
                ? new ConfigException(line, cause)
                : new IncompatibleSourceException(line, cause);
    }

    // Staged copies free receive buffers by themselves. With other placements, a datagram that arrives without
    // credit takes a slot of the ring.
    private MemoryShape shape(final StreamInfo stream, final @Nullable Kind kind, final Membership membership) {
        final MemoryShape.Kind shape = switch (kind) {
            case null -> inHost(membership);
            case DIRECT -> MemoryShape.Kind.BY_ARRIVAL;
            case AUTO, LOOPBACK, FASTCOPY, SHARED, PEER, STAGED -> MemoryShape.Kind.STAGED;
        };
        final int spareSlots = shape == MemoryShape.Kind.STAGED ? 0 : spareSlots(stream, membership);
        return MemoryShape.of(
                stream,
                shape,
                ringSlots(stream, spareSlots),
                spareSlots,
                transport.oneSided() != null,
                channel.stream().framesHeld());
    }

    private MemoryShape.Kind inHost(final Membership membership) {
        return transport.capabilities().placement() == Placement.BY_ARRIVAL
                ? membership.kindByArrival()
                : MemoryShape.Kind.IN_RING;
    }

    private ReceiveMemory memory(final MemoryShape shape, final @Nullable Kind kind, final Membership membership) {
        final DeviceBackend device = subscriber.device();
        final int reserve = transport.capabilities().headerReserveBytes();
        return switch (kind) {
            case null -> new HostReceiveMemory(shape, device, reserve, membership.ring(shape.ringBytes()));
            case DIRECT -> direct(shape, device, reserve);
            case LOOPBACK -> {
                final OneSided oneSided = Objects.requireNonNull(transport.oneSided());
                yield StagedReceiveMemory.byNic(
                        shape, device, reserve, new LoopbackQueuePair(oneSided, context.notices()));
            }
            case AUTO, FASTCOPY, SHARED, PEER, STAGED ->
                new StagedReceiveMemory(shape, device, reserve, placement.fastcopyMaxBytes());
        };
    }

    // Checks the whole ring with the transport, so that a refusal comes before a lane is opened.
    private ReceiveMemory direct(final MemoryShape shape, final DeviceBackend device, final int reserve) {
        try (RollbackOnFailure opened = new RollbackOnFailure()) {
            final ReceiveMemory memory = opened.add(new DirectReceiveMemory(shape, device, reserve));
            final Optional<String> refusal =
                    transport.canReceiveInto(memory.rings().dataRing().payload());
            if (refusal.isPresent()) {
                throw new DeviceException(refusal.get());
            }
            opened.keep();
            return memory;
        }
    }

    // Any process may send to the group, so its announcement must not decide how much memory this subscriber takes.
    private void requireWithinBounds(final StreamInfo stream, final MemoryNeeds needs) {
        final long given = channel.stream().ringMaxBytes();
        final long most = given > 0 ? given : ringMaxDefault();
        if (needs.totalBytes() > most && channel.stream().ringBytes() == 0) {
            throw IncompatibleSourceException.ofRingMax("ring-max: a source of frame-max=" + stream.frameMaxBytes()
                    + " wants " + needs.totalBytes() + " bytes here, ring-max is " + most
                    + "; enlarge ring-max=, or lower frame-max= or window= at the source");
        }
    }

    // Before any allocation; it covers pinned memory and receive buffers too, whichever module allocates them.
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

    // A source that does not wait also sends without credit. Its datagrams need a receive buffer, or the transport
    // fills up with old ones.
    private int spareSlots(final StreamInfo stream, final Membership membership) {
        return membership.mayExceedCredit(Policies.onWire(channel.stream().delivery()))
                ? MemoryShape.batchMax(stream.slotBytes())
                : 0;
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
            throw asked > SLOTS_MAX ? new ConfigException(line) : new IncompatibleSourceException(line, null);
        }
        return (int) slots;
    }
}
