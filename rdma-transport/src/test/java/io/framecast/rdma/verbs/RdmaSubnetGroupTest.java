package io.framecast.rdma.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.TransportException;
import java.net.InetAddress;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// The system's librdmacm, on a RoCE device: no subnet manager is asked there, but the same calls are made,
/// and what they tell lies in the same structures.
@Tag("rdma")
final class RdmaSubnetGroupTest {
    private static final long PATIENCE_NS = 30_000_000_000L;

    @Test
    void shouldJoinAndLeave() throws Exception {
        final Fabric fabric = Fabric.real();
        final CmLibrary library;
        try {
            library = CmLibrary.load();
        } catch (final TransportException e) {
            Assumptions.abort(e.getMessage());
            return;
        }
        final InetAddress group = InetAddress.getByName("239.77.3.4");
        try (Context context = fabric.library().open(fabric.device(0))) {
            final GidEntry own = Fabric.ipv4(context).orElseThrow();
            for (int round = 0; round < 2; round++) {
                try (SubnetGroup joined = SubnetGroup.join(library, own.gid().toAddress(), group, PATIENCE_NS)) {
                    assertEquals(Gid.ofAddress(group), joined.path().destination());
                    assertEquals(1, joined.path().port());
                    assertEquals(own.index(), joined.path().sourceGid());
                    assertTrue(joined.path().hops().limit() > 0);
                }
            }
        }
    }
}
