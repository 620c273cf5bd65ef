package io.framecast.engine.udp;

import static io.framecast.fuzz.FuzzLimits.require;
import static io.framecast.fuzz.FuzzLimits.requireEqual;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.LaneAddress;
import io.framecast.fuzz.FuzzCorpus;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/// The address that a peer claims for itself: it is refused, or it is one host's, and goes through a `sockaddr` and
/// back.
public final class EndpointFuzzTest {
    @TestFactory
    Stream<DynamicTest> shouldTakeAddressesOfOneHost() throws UnknownHostException {
        return FuzzCorpus.of(
                EndpointFuzzTest.class,
                Map.of(
                        "ipv4", bytes(new byte[] {10, 0, 0, 1}),
                        "ipv6", bytes(new byte[] {(byte) 0xfe, (byte) 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1})),
                EndpointFuzzTest::fuzzerTestOneInput);
    }

    private static byte[] bytes(final byte[] address) throws UnknownHostException {
        return new Endpoint(InetAddress.getByAddress(address), 4711)
                .toLaneAddress()
                .toBytes();
    }

    public static void fuzzerTestOneInput(final byte[] input) {
        final LaneAddress address =
                new LaneAddress(Arrays.copyOf(input, Math.min(input.length, LaneAddress.BYTES_MAX)));
        for (final IpFamily family : IpFamily.values()) {
            final Endpoint endpoint;
            try {
                endpoint = Endpoint.decode(address, family);
            } catch (final TransportException e) {
                continue;
            }
            requireEqual(address, endpoint.toLaneAddress());
            require(!endpoint.address().isMulticastAddress() && endpoint.port() > 0, "one host and a port");
            final MemorySegment sockaddr = MemorySegment.ofArray(new byte[family.sockaddrBytes + 1]);
            endpoint.write(sockaddr, 1, 2);
            requireEqual(endpoint.port(), Endpoint.read(sockaddr, 1, family).port());
        }
    }
}
