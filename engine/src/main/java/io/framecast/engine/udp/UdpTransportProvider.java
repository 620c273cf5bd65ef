package io.framecast.engine.udp;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.framecast.api.provider.TransportConfig;
import io.framecast.api.provider.TransportProvider;
import io.framecast.api.spi.Transport;
import java.lang.foreign.Arena;
import java.util.Optional;
import java.util.Set;

/// Offers `udp`: multicast by the kernel's sockets, straight between the network and the rings. Linux on 64-bit
/// x86 or ARM.
public final class UdpTransportProvider implements TransportProvider {
    // After verbs, before aeron.
    private static final int RANK = 20;
    private static final Set<String> ARCHITECTURES = Set.of("amd64", "x86_64", "aarch64");

    @Override
    public String name() {
        return UdpTransport.NAME;
    }

    @Override
    public Optional<String> unavailable() {
        return unavailable(System.getProperty("os.name"), System.getProperty("os.arch"));
    }

    static Optional<String> unavailable(final String system, final String architecture) {
        if (!"Linux".equals(system) || !ARCHITECTURES.contains(architecture)) {
            return Optional.of("udp needs Linux on x86-64 or aarch64, this is " + system + " on " + architecture);
        }
        try (Arena arena = Arena.ofConfined()) {
            Sockets.newCapture(arena).get(JAVA_INT, 0);
            return Optional.empty();
        } catch (final LinkageError | IllegalCallerException e) {
            return Optional.of("udp cannot call the C library: " + e.getMessage());
        }
    }

    @Override
    public int rank() {
        return RANK;
    }

    @Override
    public Transport open(final TransportConfig config) {
        return UdpTransport.open(config);
    }
}
