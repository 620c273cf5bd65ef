package io.framecast.engine.publish;

import io.framecast.api.Channel;
import io.framecast.api.error.ConfigException;
import io.framecast.api.error.FramecastException;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.PayloadPlaces;
import io.framecast.api.spi.Transport;
import io.framecast.engine.memory.NumaPolicy;
import io.framecast.engine.memory.RollbackOnFailure;
import io.framecast.engine.port.ControlLane;
import io.framecast.engine.port.LossInjector;
import io.framecast.engine.port.SendLane;
import io.framecast.engine.port.TransportOneSided;
import io.framecast.engine.session.Policies;
import io.framecast.engine.session.ProtectionLevel;
import io.framecast.engine.session.SendMemory;
import io.framecast.engine.session.SessionContext;
import io.framecast.reliability.lane.SendPorts;
import io.framecast.reliability.onesided.MemberEndpoints;
import io.framecast.reliability.onesided.OneSidedPort;
import io.framecast.reliability.send.SenderConfig;
import io.framecast.reliability.session.SendPacer;
import io.framecast.reliability.session.SendSession;
import io.framecast.reliability.window.SendWindow;
import io.framecast.reliability.window.WindowMemory;
import io.framecast.reliability.wire.StreamInfo;
import java.util.random.RandomGenerator;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// The memory and the lanes of a source: its window's memory, RC endpoints where the transport has them, and
/// three lanes.
///
/// Owns memory and lanes; the transport is its session's.
final class SourceLanes implements AutoCloseable {
    private final Transport transport;
    private final SendMemory memory;
    private final @Nullable MemberEndpoints endpoints;
    private final ControlLane control;
    private final Lane data;
    private final Lane repair;

    /// Memory opens before the lanes: their registrations of the window then lie within the memory that peers may
    /// read.
    SourceLanes(
            final Transport transport,
            final Channel channel,
            final SessionContext context,
            final WindowSharing sharing) {
        this.transport = transport;
        final int slotBytes = slotBytes(
                transport, ProtectionLevel.of(channel.link().security()).headerBytes());
        try (RollbackOnFailure opened = new RollbackOnFailure()) {
            try (NumaPolicy _ = context.memoryPolicy()) {
                memory = opened.add(sharing.memory(
                        channel, slotBytes, transport.capabilities().deviceMemory()));
            }
            endpoints = endpoints(channel.name(), context);
            if (endpoints != null) {
                opened.add(endpoints);
            }
            final LossInjector loss = new LossInjector(context.lossProbability(), context.seed());
            control = opened.add(new ControlLane(transport, LaneConfig.Role.SOURCE, loss, context.clock()));
            data = opened.add(transport.open(lane(LaneKind.DATA)));
            repair = opened.add(transport.open(lane(LaneKind.REPAIR)));
            opened.keep();
        }
    }

    private static int slotBytes(final Transport transport, final int headerBytes) {
        final int room = transport.capabilities().datagramBytesMax() - headerBytes;
        final int slotBytes = Math.min(room, StreamInfo.SLOT_BYTES_MAX) / 64 * 64;
        if (slotBytes <= 0) {
            throw new ConfigException(
                    "mtu: expected room for a " + headerBytes + "-byte header and 64 bytes of payload");
        }
        return slotBytes;
    }

    private @Nullable MemberEndpoints endpoints(final String channel, final SessionContext context) {
        final OneSidedPort port = TransportOneSided.of(transport.oneSided(), Runnable::run);
        return port == null
                ? null
                : MemberEndpoints.open(
                        port, memory.sent(), SenderConfig.MEMBERS_MAX_DEFAULT, channel, context.notices());
    }

    private LaneConfig lane(final LaneKind kind) {
        return new LaneConfig(kind, LaneConfig.Role.SOURCE, memory.ring(), null, null);
    }

    /// The protocol over these lanes.
    ///
    /// @param secrets gives the session's nonce, and what proves its members' addresses
    SendSession session(final Channel channel, final SessionContext context, final RandomGenerator secrets) {
        final WindowMemory slots = memory.window();
        final StreamInfo stream = new StreamInfo(
                secrets.nextLong(),
                channel.name(),
                memory.ring().payloadBytes(),
                slots.slots(),
                channel.stream().frameMaxBytes(),
                (int) channel.stream().aliveTimeoutMs(),
                control.address().toBytes(),
                data.address().toBytes(),
                SealChoice.of(channel, memory.ring().payloadBytes(), context.notices()));
        final SendWindow window = new SendWindow(slots, stream.session());
        final PayloadPlaces places = memory.ring().places();
        if (places != null) {
            window.onPayload(places::clear);
        }
        return new SendSession(
                new SenderConfig(
                        stream,
                        SenderConfig.MEMBERS_MAX_DEFAULT,
                        context.epochOffsetNs(),
                        Policies.onWire(channel.stream().coRoots())),
                window,
                new SendPacer(channel.link().rateBytes()),
                new SendPorts(control, new SendLane(data), new SendLane(repair)),
                endpoints,
                secrets);
    }

    Transport transport() {
        return transport;
    }

    SendMemory memory() {
        return memory;
    }

    ControlLane control() {
        return control;
    }

    Lane data() {
        return data;
    }

    Lane repair() {
        return repair;
    }

    /// Whether members may read the window by RDMA.
    boolean isOneSided() {
        return endpoints != null;
    }

    /// Why no frame is sent from device memory; empty where the transport may do so.
    String gatherRefusal() {
        return memory.ring().places() == null
                ? "transport " + transport.capabilities().name() + " sends from host memory only"
                : "";
    }

    // Addresses that peers name may be nonsense.
    String describe(final LaneAddress address) {
        try {
            return transport.describe(address);
        } catch (final FramecastException _) {
            return address.toString();
        }
    }

    /// Closes the lanes; the memory stays, for the publisher's thread may still write into it.
    void closeLanes() {
        CloseHelper.closeAll(endpoints, repair, data, control);
    }

    /// Frees the memory, behind [#closeLanes].
    @Override
    public void close() {
        memory.close();
    }
}
