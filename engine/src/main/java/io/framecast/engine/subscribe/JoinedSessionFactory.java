package io.framecast.engine.subscribe;

import io.framecast.api.Channel;
import io.framecast.api.PlacementOptions.Kind;
import io.framecast.api.PlacementReport;
import io.framecast.api.SecurityOptions;
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
import io.framecast.engine.port.ControlLane;
import io.framecast.engine.port.LossInjector;
import io.framecast.engine.session.EncryptionLimits;
import io.framecast.engine.session.Failures;
import io.framecast.engine.session.MemoryNeeds;
import io.framecast.engine.session.Policies;
import io.framecast.engine.session.SessionContext;
import io.framecast.engine.sink.DirectReceiveMemory;
import io.framecast.engine.sink.HostReceiveMemory;
import io.framecast.engine.sink.LoopbackQueuePair;
import io.framecast.engine.sink.PlacementProbe;
import io.framecast.engine.sink.ReceiveMemory;
import io.framecast.engine.sink.StagedReceiveMemory;
import io.framecast.reliability.assembly.MemoryShape;
import io.framecast.reliability.receive.ReceiverConfig;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.StreamInfo.Seal;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/// Makes a subscription's part in a session: memory within bounds, lanes, machine. Used by the conductor.
final class JoinedSessionFactory {
    private static final int SLOTS_MAX = 1 << 24;

    private final EngineSubscriber subscriber;
    private final Channel channel;
    private final Transport transport;
    private final SessionContext context;
    private final ControlLane control;
    private final LossInjector loss;
    private final PlacementProbe probe;
    // Found when the first session opens; null where frames lie in host memory.
    private @Nullable PlacementReport way;

    /// @param control the control lane that all sessions of the subscription share
    JoinedSessionFactory(
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
    /// @param admission to the source's session, which owns it
    /// @param membership to begin with it
    /// @param conductor runs the session's later tasks
    /// @throws IncompatibleSourceException where the source's announced configuration is the cause: listen for
    ///     another source
    /// @throws io.framecast.api.error.FramecastException with one line that says how to fix the problem
    JoinedSession open(
            final StreamInfo stream, final Admission admission, final Membership membership, final Executor conductor) {
        final Kind kind = way(stream);
        final MemoryShape shape = shape(stream, kind, membership);
        final MemoryNeeds needs =
                MemoryNeeds.subscriber(shape, kind, transport.capabilities().headerReserveBytes());
        requireWithinBounds(stream, needs);
        try (RollbackOnFailure opened = new RollbackOnFailure();
                NumaPolicy _ = context.memoryPolicy()) {
            requireRoom(needs);
            final ReceiveMemory memory = opened.add(memory(shape, kind, membership));
            final SessionLanes lanes = opened.add(new SessionLanes(
                    transport,
                    control,
                    loss,
                    shape,
                    memory,
                    admission.receiverId(),
                    channel.stream().coRoots().serves(),
                    context.notices(),
                    conductor));
            final JoinedSession session =
                    new JoinedSession(subscriber, context, shape, memory, lanes, admission, membership);
            opened.keep();
            membership.onOpened(memory, conductor);
            return session;
        } catch (final DeviceException e) {
            if (kind == null || kind == Kind.STAGED) {
                throw e;
            }
            // The ring can be too long for a placement that worked with the probe's short one: the next placement is
            // tried.
            report(probe.without(kind, e));
            return open(stream, admission, membership, conductor);
        } catch (final OutOfMemoryError e) {
            final String line =
                    "ring: no room for " + needs.hostBytes() + " bytes in the host and " + needs.deviceBytes()
                            + " on the device; lower ring= or frames-held=, or frame-max= and window= at the source";
            throw channel.stream().ringBytes() > 0
                    ? new ConfigException(line, e)
                    : new IncompatibleSourceException(line, e);
        } catch (final TransportException e) {
            throw new IncompatibleSourceException(Failures.line("join of " + channel.name(), e), e);
        }
    }

    /// Before [#open]: the source seals its datagrams as this subscriber wants it.
    ///
    /// @param seal as a heartbeat announces it
    /// @throws IncompatibleSourceException where it does not
    void requireSeal(final Seal seal) {
        final SecurityOptions security = channel.link().security();
        if (security.isAuthenticated() == (seal == Seal.NONE)) {
            throw new IncompatibleSourceException(
                    "auth: a source of this stream contradicts itself; listening for another", null);
        }
        final boolean asked = switch (security.payloadCipher()) {
            case NONE -> !seal.isEncrypting();
            case AUTO -> seal.isEncrypting();
            case AES_GCM -> seal == Seal.AES_GCM;
            case CHACHA20_POLY1305 -> seal == Seal.CHACHA20_POLY1305;
        };
        if (!asked) {
            throw new IncompatibleSourceException(contradiction(security, seal), null);
        }
    }

    private static String contradiction(final SecurityOptions security, final Seal seal) {
        if (security.isEncrypted() && seal.isEncrypting()) {
            return "cipher: expected a source with cipher=" + security.cipher().word()
                    + ", got one with another cipher; give both the same cipher=";
        }
        return "payloads: "
                + (seal.isEncrypting()
                        ? "this subscriber says unprotected, and the source encrypts them"
                        : "the source says unprotected, and this subscriber does not")
                + "; write payloads=unprotected at both ends, or at neither";
    }

    // Chosen once for all sessions, before the memory of the first is counted, and again where a session's payloads
    // must be opened in host memory first.
    private @Nullable Kind way(final StreamInfo stream) {
        if (!subscriber.device().hostAddressable() && way == null) {
            report(probe.probe());
        }
        if (way != null && way.kind() == Kind.DIRECT && stream.seal().isEncrypting()) {
            final PlacementReport instead = probe.without(Kind.DIRECT, new DeviceException(EncryptionLimits.NO_DIRECT));
            context.notices().accept("subscriber of " + channel.name() + ": placement: " + instead);
            report(instead);
        }
        return way == null ? null : way.kind();
    }

    private void report(final PlacementReport report) {
        way = report;
        subscriber.onPlacement(report);
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
                new StagedReceiveMemory(
                        shape, device, reserve, Objects.requireNonNull(way).fastcopyMaxBytes());
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
