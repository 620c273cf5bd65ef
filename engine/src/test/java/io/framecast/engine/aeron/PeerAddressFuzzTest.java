package io.framecast.engine.aeron;

import static io.framecast.fuzz.FuzzLimits.requireEqual;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.LaneAddress;
import io.framecast.fuzz.FuzzCorpus;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/// The address that a peer claims for itself over Aeron: it is refused, or encodes to the same bytes.
public final class PeerAddressFuzzTest {
    @TestFactory
    Stream<DynamicTest> shouldTakeAddressesOfOneHost() throws UnknownHostException {
        final InetAddress host = InetAddress.getByAddress(new byte[] {10, 0, 0, 1});
        return FuzzCorpus.of(
                PeerAddressFuzzTest.class,
                Map.of(
                        "ipv4", new PeerAddress(host, 4711, 3, 9).encode().toBytes(),
                        "memory", new PeerAddress(null, 0, 3, 9).encode().toBytes()),
                PeerAddressFuzzTest::fuzzerTestOneInput);
    }

    public static void fuzzerTestOneInput(final byte[] input) {
        final LaneAddress address =
                new LaneAddress(Arrays.copyOf(input, Math.min(input.length, LaneAddress.BYTES_MAX)));
        final PeerAddress peer;
        try {
            peer = PeerAddress.decode(address);
        } catch (final TransportException e) {
            return;
        }
        requireEqual(address, peer.encode());
        requireEqual(peer, PeerAddress.decode(peer.encode()));
    }
}
