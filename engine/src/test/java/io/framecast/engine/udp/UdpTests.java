package io.framecast.engine.udp;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.Optional;

/// What the tests of this package share.
final class UdpTests {
    static final String URI = "framecast:udp?group=224.20.30.41:24561|interface=lo";

    private UdpTests() {}

    static void assumeUdp() {
        final Optional<String> reason = new UdpTransportProvider().unavailable();
        assumeTrue(reason.isEmpty(), () -> reason.orElse(""));
    }

    static void ignore(final String warning) {
        // Buffers may be as small as they like here.
    }
}
