package io.framecast.engine.udp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.LaneAddress;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class EndpointTest {
    private static Endpoint endpoint(final String address, final int port) {
        return new Endpoint(InetAddress.ofLiteral(address), port);
    }

    @Test
    void shouldComeBackFromTheWire() {
        for (final Endpoint endpoint : List.of(
                endpoint("127.0.0.1", 1),
                endpoint("10.255.0.9", 65_535),
                endpoint("fd01::7", 40_000),
                endpoint("::1", 9))) {
            assertEquals(endpoint, Endpoint.decode(endpoint.toLaneAddress(), endpoint.family()));
        }
        assertEquals(
                "047f00000103e8", endpoint("127.0.0.1", 1000).toLaneAddress().toString());
    }

    @Test
    void shouldComeBackFromTheSystem() {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment memory = arena.allocate(64);
            memory.fill((byte) -1);
            for (final Endpoint endpoint : List.of(endpoint("224.1.2.3", 513), endpoint("ff15::a:b", 65_534))) {
                endpoint.write(memory, 32, 7);
                assertEquals(endpoint, Endpoint.read(memory, 32, endpoint.family()));
            }
        }
    }

    @Test
    void shouldBeRefusedWhenNoHostCanHaveIt() {
        for (final Endpoint hostile : List.of(
                endpoint("127.0.0.1", 0),
                endpoint("0.0.0.0", 5),
                endpoint("0.1.2.3", 5),
                endpoint("224.0.0.1", 5),
                endpoint("255.255.255.255", 5),
                endpoint("250.1.1.1", 5),
                endpoint("ff15::a", 5),
                endpoint("::", 5))) {
            final LaneAddress address = hostile.toLaneAddress();
            assertThrows(TransportException.class, () -> Endpoint.decode(address, hostile.family()), hostile::toString);
        }
    }

    @Test
    void shouldBeRefusedWhenOfTheOtherFamily() {
        final LaneAddress ipv4 = endpoint("127.0.0.1", 5).toLaneAddress();
        final LaneAddress ipv6 = endpoint("::1", 5).toLaneAddress();
        assertThrows(TransportException.class, () -> Endpoint.decode(ipv4, IpFamily.IPV6));
        assertThrows(TransportException.class, () -> Endpoint.decode(ipv6, IpFamily.IPV4));

        // ::ffff:127.0.0.1
        final byte[] mapped = new byte[19];
        mapped[0] = 6;
        mapped[11] = -1;
        mapped[12] = -1;
        mapped[13] = 127;
        mapped[16] = 1;
        mapped[18] = 9;
        assertThrows(TransportException.class, () -> Endpoint.decode(new LaneAddress(mapped), IpFamily.IPV6));
    }

    @Test
    void shouldGiveAHostOrAnErrorWhateverTheBytes() {
        final Random random = new Random(3);
        int taken = 0;
        for (int i = 0; i < 100_000; i++) {
            final byte[] bytes = new byte[random.nextInt(4) == 0 ? 7 : random.nextInt(LaneAddress.BYTES_MAX + 1)];
            random.nextBytes(bytes);
            if (bytes.length > 0 && random.nextBoolean()) {
                bytes[0] = 4;
            }
            taken += decodes(new LaneAddress(bytes)) ? 1 : 0;
        }
        assertFalse(taken == 0, "no random address was taken");
    }

    private static boolean decodes(final LaneAddress address) {
        try {
            final Endpoint endpoint = Endpoint.decode(address, IpFamily.IPV4);
            assertEquals(address, endpoint.toLaneAddress());
            return true;
        } catch (final TransportException e) {
            assertFalse(e.getMessage().contains("\n"));
            return false;
        }
    }
}
