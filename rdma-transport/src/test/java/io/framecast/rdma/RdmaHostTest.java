package io.framecast.rdma;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.OneSided;
import io.framecast.api.spi.Transport;
import io.framecast.rdma.verbs.Gid;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/// Which addresses are of one host: those of one port, by its GID, and on InfiniBand by its LID too.
final class RdmaHostTest {
    private static final Gid GID = new Gid(0, 0xffff_0a00_0001L);

    private static LaneAddress address(final Gid gid, final int lid, final int queuePair) {
        return new RdmaAddress(gid, lid, queuePair, queuePair + 1).toLaneAddress();
    }

    @Test
    void shouldTellHostsByGidAndLid() {
        try (Transport transport = LaneRings.openTransport()) {
            final LaneAddress control = address(GID, 0, 77);
            assertTrue(transport.isOneHost(control, address(GID, 0, 78)));
            assertFalse(transport.isOneHost(control, address(new Gid(0, 0xffff_0a00_0002L), 0, 77)));
            assertTrue(transport.isOneHost(address(GID, 9, 77), address(GID, 9, 78)));
            assertFalse(transport.isOneHost(address(GID, 9, 77), address(GID, 8, 77)));
        }
    }

    @Test
    void shouldTellWhereAConnectionEnds() {
        try (Transport transport = LaneRings.openTransport()) {
            final OneSided oneSided = Objects.requireNonNull(transport.oneSided());
            final byte[] descriptor = new RcDescriptor(GID, 0, 77, 3, 1024).toBytes();
            assertTrue(oneSided.isAt(address(GID, 0, 99), descriptor));
            assertFalse(oneSided.isAt(address(new Gid(0, 0xffff_0a00_0002L), 0, 77), descriptor));
            assertThrows(TransportException.class, () -> oneSided.isAt(address(GID, 0, 99), new byte[] {1}));
        }
    }
}
