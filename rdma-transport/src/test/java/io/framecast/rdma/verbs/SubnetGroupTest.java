package io.framecast.rdma.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.TransportException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Groups of a subnet manager, on a stand-in for librdmacm.
final class SubnetGroupTest {
    private static final long PATIENCE_NS = 2_000_000_000L;

    private final StandInCm standIn = StandInCm.load();

    @AfterEach
    void leaveNothing() {
        standIn.set("refuses", 0);
        standIn.set("silent", 0);
        standIn.set("bind_fails", 0);
        assertEquals(0, standIn.live());
    }

    private SubnetGroup join(final String group, final long patienceNs) throws UnknownHostException {
        return SubnetGroup.join(
                standIn.library(), InetAddress.getByName("10.9.0.1"), InetAddress.getByName(group), patienceNs);
    }

    private static Gid gid(final String address) throws UnknownHostException {
        return Gid.ofAddress(InetAddress.getByName(address));
    }

    @Test
    void shouldBeGrantedAGroup() throws Exception {
        try (SubnetGroup group = join("239.77.1.2", PATIENCE_NS)) {
            assertEquals(
                    new AddressPath(1, 0, gid("ff12:401b:ffff::f4d:102"), 0xc102, new AddressPath.Hops(2, 0, 3)),
                    group.path());
            assertEquals(2, standIn.live());
        }
        try (SubnetGroup group = join("ff15::77:1", PATIENCE_NS)) {
            assertEquals(gid("ff12:601b:ffff::77:1"), group.path().destination());
        }
    }

    @Test
    void shouldSayWhoDidNotAnswer() {
        standIn.set("silent", 1);
        final TransportException e = assertThrows(TransportException.class, () -> join("239.77.1.2", 5_000_000));
        assertEquals(
                "verbs: no subnet manager answered 10.9.0.1 that asked to join 239.77.1.2; does a subnet manager run (opensm)?",
                e.getMessage());
    }

    @Test
    void shouldSayWhatWasRefused() {
        standIn.set("refuses", VerbsErrors.ENETUNREACH);
        final TransportException refused =
                assertThrows(TransportException.class, () -> join("239.77.1.2", PATIENCE_NS));
        assertTrue(refused.getMessage().contains("rdma_join_multicast"), refused.getMessage());
        assertTrue(refused.getMessage().contains("239.77.1.2"), refused.getMessage());
        standIn.set("bind_fails", VerbsErrors.ENODEV);
        final TransportException unbound =
                assertThrows(TransportException.class, () -> join("239.77.1.2", PATIENCE_NS));
        assertTrue(unbound.getMessage().contains("rdma_bind_addr"), unbound.getMessage());
        assertTrue(unbound.getMessage().contains("10.9.0.1"), unbound.getMessage());
    }

    @Test
    void shouldNameThePackageWhenThereIsNoLibrary() {
        final TransportException e = assertThrows(TransportException.class, () -> CmLibrary.load("libnowhere.so.1"));
        assertEquals(
                "verbs: no libnowhere.so.1 on this machine, which InfiniBand's groups need; install librdmacm1"
                        + " (Debian, Ubuntu) or librdmacm (Fedora, RHEL)",
                e.getMessage());
    }
}
