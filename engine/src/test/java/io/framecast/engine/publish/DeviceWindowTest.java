package io.framecast.engine.publish;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.engine.memory.HostProvider;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// A window of 2 MiB.
final class DeviceWindowTest {
    private static final long BYTES = 2L << 20;

    private final DeviceBackend device = new HostProvider().open(0);
    private final DeviceWindow window = new DeviceWindow(device, BYTES - 1000);

    @AfterEach
    void close() {
        device.close();
    }

    private DeviceRegion claim(final long bytes) {
        final DeviceRegion claimed = window.claim(bytes);
        assertNotNull(claimed);
        assertEquals(bytes, claimed.bytes());
        return claimed;
    }

    private void release(final DeviceRegion claimed) {
        window.release(Objects.requireNonNull(window.find(claimed)));
    }

    @Test
    void shouldGiveAllOfAnEmptyWindow() {
        release(claim(900_000));
        release(claim(1_500_000));
        release(claim(BYTES));
    }

    @Test
    void shouldLeaveOutTheEndWhereAClaimDoesNotFit() {
        final DeviceRegion first = claim(1_000_000);
        final DeviceRegion second = claim(600_000);
        assertNull(window.claim(900_000));
        release(first);
        final DeviceRegion third = claim(900_000);
        assertEquals(first.address(), third.address());
        assertNull(window.claim(256_000));
        release(second);
        claim(256_000);
    }

    @Test
    void shouldTakeBackTheNewestClaims() {
        claim(1_000_000);
        for (int i = 0; i < 100; i++) {
            final DeviceRegion second = claim(400_000);
            final DeviceRegion third = claim(500_000);
            release(second);
            release(third);
        }
    }

    @Test
    void shouldKnowASentFrameNoMore() {
        final DeviceRegion claimed = claim(5_000);
        assertNull(window.find(claimed.slice(256, 100)));
        assertNotNull(window.find(claimed.slice(0, 100)));
        final DeviceWindow.Claim claim = Objects.requireNonNull(window.find(claimed));
        claim.sent();
        assertNull(window.find(claimed));
        window.release(claim);
        assertEquals(claimed.address(), claim(5_000).address());
    }

    @Test
    void shouldNeverGiveMemoryThatIsClaimed() {
        final SplittableRandom random = new SplittableRandom(7);
        final ArrayDeque<DeviceRegion> open = new ArrayDeque<>();
        final List<DeviceRegion> done = new ArrayList<>();
        int refused = 0;
        for (int i = 0; i < 20_000; i++) {
            final DeviceRegion claimed = window.claim(1 + random.nextLong(700_000));
            if (claimed == null) {
                refused++;
                assertTrue(!open.isEmpty(), "a window without claims has no room");
            } else {
                open.forEach(other -> assertTrue(
                        claimed.address() + claimed.bytes() <= other.address()
                                || other.address() + other.bytes() <= claimed.address(),
                        () -> claimed + " overlaps " + other));
                assertEquals(0, claimed.address() % 256);
                open.add(claimed);
            }
            if (claimed == null || random.nextInt(3) == 0) {
                final DeviceRegion released = random.nextBoolean() ? open.removeFirst() : open.removeLast();
                release(released);
                done.add(released);
            }
        }
        assertTrue(refused > 1000 && done.size() > 1000, refused + " refused, " + done.size() + " released");
    }
}
