package io.framecast.rdma;

import static io.framecast.fuzz.FuzzLimits.require;
import static io.framecast.fuzz.FuzzLimits.requireEqual;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.LaneAddress;
import io.framecast.fuzz.FuzzCorpus;
import io.framecast.rdma.verbs.Gid;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/// The bytes by which a peer names its lane or its connection: they are refused, or encode to the same bytes.
public final class RdmaAddressFuzzTest {
    private static final RdmaAddress ROCE = new RdmaAddress(new Gid(0, 0xffff_0a00_0001L), 0, 77, 5);
    private static final RdmaAddress INFINIBAND = new RdmaAddress(new Gid(0xfe80L << 48, 1), 9, 77, 5);

    @TestFactory
    Stream<DynamicTest> shouldTakeAddressesOfOnePeer() {
        return FuzzCorpus.of(
                RdmaAddressFuzzTest.class,
                Map.of(
                        "roce", ROCE.toLaneAddress().toBytes(),
                        "infiniband", INFINIBAND.toLaneAddress().toBytes(),
                        "connection", new RcDescriptor(ROCE.gid(), 0, 77, 3, 1024).toBytes()),
                RdmaAddressFuzzTest::fuzzerTestOneInput);
    }

    public static void fuzzerTestOneInput(final byte[] input) {
        final byte[] bytes = Arrays.copyOf(input, Math.min(input.length, LaneAddress.BYTES_MAX));
        for (final RdmaAddress own : new RdmaAddress[] {ROCE, INFINIBAND}) {
            try {
                final RdmaAddress peer = RdmaAddress.decode(new LaneAddress(bytes));
                requireEqual(new LaneAddress(bytes), peer.toLaneAddress());
                require(!peer.toString().isEmpty(), "a text");
                peer.requireReachable(own);
            } catch (final TransportException e) {
                requireEqual(1L, String.valueOf(e.getMessage()).lines().count());
            }
            try {
                final RcDescriptor peer = RcDescriptor.decode(bytes, own);
                require(Arrays.equals(bytes, peer.toBytes()), "the same bytes");
                require(peer.pathMtuBytes(peer) <= 4096, "a packet's length");
            } catch (final TransportException e) {
                requireEqual(1L, String.valueOf(e.getMessage()).lines().count());
            }
        }
    }
}
