package io.framecast.rdma;

import io.framecast.api.Channel;
import io.framecast.api.provider.TransportConfig;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.ReceiveRing;
import io.framecast.api.spi.SendRing;
import io.framecast.api.spi.Transport;
import io.framecast.rdma.verbs.Fabric;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/// Rings, and lanes on them.
record LaneRings(int slots, int headerBytes, int payloadBytes) {
    private static final int PAGE_BYTES = 4096;

    static Transport openTransport() {
        return openTransport("");
    }

    /// @param device its name, interface or address; empty for any
    static Transport openTransport(final String device) {
        return openTransport(Fabric.standIn(), device);
    }

    static Transport openTransport(final Fabric fabric, final String device) {
        return openTransport(fabric, device, "239.77.5.6");
    }

    /// @param group an address; in brackets where it is of IPv6
    static Transport openTransport(final Fabric fabric, final String device, final String group) {
        final String chosen = device.isEmpty() ? "" : "|interface=" + device;
        final Channel channel = Channel.parse("framecast:verbs?group=" + group + ":4000|channel=rings" + chosen);
        return VerbsTransport.open(fabric.library(), new TransportConfig(channel, _ -> {}));
    }

    SendRing send(final Arena arena) {
        final int[] lengths = new int[slots];
        Arrays.fill(lengths, payloadBytes);
        return new SendRing(pages(arena, headerBytes), headerBytes, pages(arena, payloadBytes), payloadBytes, lengths);
    }

    ReceiveRing receive(final Arena arena) {
        final int stride = ReceiveSlots.RESERVE_BYTES + headerBytes;
        return new ReceiveRing(
                pages(arena, stride),
                headerBytes,
                stride,
                DeviceRegion.ofHost(pages(arena, payloadBytes)),
                payloadBytes,
                slots);
    }

    // As an engine's windows and rings.
    private MemorySegment pages(final Arena arena, final int bytes) {
        return arena.allocate((long) slots * bytes, PAGE_BYTES);
    }

    Lane source(final Transport transport, final Arena arena) {
        return transport.open(new LaneConfig(LaneKind.DATA, LaneConfig.Role.SOURCE, send(arena), null, null));
    }

    Lane receiver(final Transport transport, final Arena arena, final Lane source) {
        return transport.open(
                new LaneConfig(LaneKind.DATA, LaneConfig.Role.RECEIVER, null, receive(arena), source.address()));
    }

    Lane control(final Transport transport, final Arena arena) {
        return transport.open(
                new LaneConfig(LaneKind.CONTROL, LaneConfig.Role.SOURCE, send(arena), receive(arena), null));
    }
}
