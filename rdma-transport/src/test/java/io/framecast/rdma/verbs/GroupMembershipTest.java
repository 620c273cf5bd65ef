package io.framecast.rdma.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.TransportException;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/// Memberships that cannot be had, each with a line that says why.
final class GroupMembershipTest {
    private static final int NO_INTERFACE = 987_654;
    private static final int LOOPBACK = 1;

    private static String refusal(final String group, final int interfaceIndex) {
        return String.valueOf(assertThrows(
                        TransportException.class,
                        () -> GroupMembership.join(InetAddress.ofLiteral(group), interfaceIndex)
                                .close())
                .getMessage());
    }

    @Test
    void shouldNameTheInterfaceThatIsNotThere() {
        assertEquals(
                "verbs: no network interface 987654 to join 239.77.5.6 on; is the device's interface up, with an"
                        + " address?",
                refusal("239.77.5.6", NO_INTERFACE));
    }

    @Test
    void shouldRefuseWhatIsNoGroup() {
        final String refusal = refusal("10.77.0.1", LOOPBACK);
        assertTrue(refusal.startsWith("verbs: lo cannot join 10.77.0.1 ("), refusal);
    }

    @Test
    void shouldRefuseAnInterfaceWithoutAnAddressOfTheGroupsFamily() throws IOException {
        final Optional<NetworkInterface> other = NetworkInterface.networkInterfaces()
                .filter(each -> each.inetAddresses().noneMatch(Inet4Address.class::isInstance))
                .findFirst();
        Assumptions.assumeTrue(other.isPresent(), "every interface here has an IPv4 address");
        final String refusal = refusal("239.77.5.6", other.get().getIndex());
        assertTrue(refusal.startsWith("verbs: " + other.get().getName() + " cannot join 239.77.5.6 ("), refusal);
        assertTrue(refusal.endsWith("is it up, with an address of that family?"), refusal);
    }

    @Test
    void shouldJoinAndLeaveGroupsOfBothFamilies() {
        for (int i = 0; i < 3; i++) {
            GroupMembership.join(InetAddress.ofLiteral("239.77.5.6"), LOOPBACK).close();
            GroupMembership.join(InetAddress.ofLiteral("ff15::77:6"), LOOPBACK).close();
        }
    }
}
