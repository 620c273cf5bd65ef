package io.framecast.engine.udp;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.TransportException;
import io.framecast.engine.libc.Linux;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class SystemFaultsTest {
    private static final long SECOND_NS = 1_000_000_000;

    private final List<String> notices = new ArrayList<>();
    private final SystemFaults faults = new SystemFaults("lo", 5 * SECOND_NS, notices::add);

    @Test
    void shouldTellEachKindOfErrorOnceAMinute() {
        for (int second = 1; second <= 90; second++) {
            faults.onFault(Linux.EPERM, 1472, second * SECOND_NS);
            faults.onFault(Linux.ENETUNREACH, 1472, second * SECOND_NS);
        }
        assertEquals(4, notices.size(), notices::toString);
        assertTrue(notices.getFirst().contains("firewall"), notices::toString);
        assertTrue(notices.get(1).contains("ip address show lo"), notices::toString);
    }

    @Test
    void shouldSayWhenTheInterfaceIsGone() {
        new SystemFaults("none0", 0, notices::add).onFault(Linux.ENETUNREACH, 1472, SECOND_NS);
        assertTrue(notices.getFirst().contains("ip link set none0 up"), notices::toString);
    }

    @Test
    void shouldBeOneLineThatNamesTheInterfaceWhateverTheError() {
        for (int errno = -1; errno < 600; errno++) {
            new SystemFaults("lo", 0, notices::add).onFault(errno, 1472, SECOND_NS);
        }
        assertEquals(601, notices.size());
        for (final String notice : notices) {
            assertTrue(notice.startsWith("udp: ") && notice.contains(" lo") && !notice.contains("\n"), notice);
        }
    }

    @Test
    void shouldGiveUpWhenALengthDoesNotPassForLong() {
        assertDoesNotThrow(() -> faults.requirePatience(1472, SECOND_NS, 6 * SECOND_NS));
        final TransportException given = assertThrows(
                TransportException.class, () -> faults.requirePatience(1472, SECOND_NS, 6 * SECOND_NS + 1));
        assertTrue(given.getMessage().contains("1472 bytes"), given.getMessage());
        assertTrue(given.getMessage().contains("MTU is 65536"), given.getMessage());
        assertTrue(given.getMessage().contains("mtu="), given.getMessage());
    }

    @Test
    void shouldTellTheMtuFromTheOffloadWhenARunIsRefused() {
        final LengthFault fault = new LengthFault();
        assertFalse(fault.concerns(65_507));
        fault.onRefused(1472, true, SECOND_NS);
        assertTrue(fault.concerns(1472));
        assertFalse(fault.concerns(1471));
        assertFalse(fault.onPassed(100));
        assertTrue(fault.onPassed(1472), "alone it passed: it was for being a run");
        assertFalse(fault.concerns(1472));

        fault.onRefused(1472, true, 2 * SECOND_NS);
        fault.onRefused(1472, false, 3 * SECOND_NS);
        fault.onRefused(1400, false, 4 * SECOND_NS);
        assertEquals(2 * SECOND_NS, fault.sinceNs());
        assertFalse(fault.onPassed(1399));
        assertTrue(fault.concerns(1400));
        assertFalse(fault.onPassed(1472), "alone it was refused too: it was for its length");
        assertFalse(fault.concerns(1472));
    }
}
