package io.framecast.rdma.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.TransportException;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/// Memberships that cannot be had, each with a line that says why.
final class GroupMembershipTest {
    private static final int NO_INTERFACE = 987_654;
    private static final int LOOPBACK = 1;
    private static final String IGMP = "/proc/net/igmp";

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
    void shouldJoinAndLeaveGroupsOfBothFamilies() throws IOException {
        Assumptions.assumeTrue(Files.isReadable(Path.of(IGMP)), "this system has no " + IGMP);
        for (int i = 0; i < 3; i++) {
            try (GroupMembership _ = GroupMembership.join(InetAddress.ofLiteral("239.77.201.202"), LOOPBACK);
                    GroupMembership _ = GroupMembership.join(InetAddress.ofLiteral("ff15::77:c9ca"), LOOPBACK)) {
                // As the kernel prints them: the first as a number of this machine's order.
                assertTrue(isMember(IGMP, "CAC94DEF"));
                assertTrue(isMember(IGMP + "6", "ff15000000000000000000000077c9ca"));
            }
            assertFalse(isMember(IGMP, "CAC94DEF"));
            assertFalse(isMember(IGMP + "6", "ff15000000000000000000000077c9ca"));
        }
    }

    private static boolean isMember(final String table, final String group) throws IOException {
        return Files.readString(Path.of(table)).contains(group);
    }
}
