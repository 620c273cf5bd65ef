package io.framecast.engine.hostgroup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.framecast.api.Channel;
import io.framecast.engine.libc.Linux;
import io.framecast.reliability.group.SegmentLayout;
import io.framecast.testing.TestJvm;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// How the members of a host group count each other's devices.
final class DeviceUseTest {
    private static final List<String> DEVICES = List.of("gpu:0", "gpu:1", "gpu:2", "gpu:3");

    private final String uri = "framecast:udp?group=224.20.30.39:24326|host-group=auto|channel=" + UUID.randomUUID();

    /// A member of its own process: takes a device, says which, and waits to be killed.
    static final class Member {
        private Member() {}

        public static void main(final String[] arguments) throws Exception {
            final DeviceUse use = DeviceUse.take(Channel.parse(arguments[0]), DEVICES);
            System.out.println(use.index());
            Thread.sleep(Long.MAX_VALUE);
        }
    }

    @BeforeEach
    void requireLinux() {
        assumeTrue(Linux.isPresent(), () -> Linux.unavailable().orElse(""));
    }

    private DeviceUse take(final List<String> devices) {
        return DeviceUse.take(Channel.parse(uri), devices);
    }

    /// Sixteen at the same moment: four on each.
    @Test
    void shouldSpreadThoseThatChooseAtTheSameMoment() throws InterruptedException {
        final Queue<DeviceUse> uses = new ConcurrentLinkedQueue<>();
        final CountDownLatch start = new CountDownLatch(1);
        final List<Thread> threads = IntStream.range(0, 16)
                .mapToObj(_ -> Thread.ofPlatform().start(() -> {
                    try {
                        start.await();
                        uses.add(take(DEVICES));
                    } catch (final InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }))
                .toList();
        start.countDown();
        for (final Thread thread : threads) {
            thread.join();
        }
        for (int device = 0; device < DEVICES.size(); device++) {
            final int index = device;
            assertEquals(4, uses.stream().filter(use -> use.index() == index).count(), "device " + device);
        }
        uses.forEach(DeviceUse::close);
    }

    @Test
    void shouldFreeADeviceOnceAndForItsGroupAlone() {
        final DeviceUse first = take(DEVICES);
        final DeviceUse second = take(DEVICES);
        assertEquals(0, first.index());
        assertEquals(1, second.index());
        try (DeviceUse other = DeviceUse.take(Channel.parse(uri + "|interface=lo"), DEVICES)) {
            assertEquals(0, other.index(), "another group");
        }
        first.close();
        first.close();
        try (DeviceUse again = take(DEVICES)) {
            assertEquals(0, again.index());
        }
        second.close();
    }

    /// More than a group has members: they are not counted, and nothing fails.
    @Test
    void shouldGoOnWhereAllPlacesAreTaken() {
        final List<DeviceUse> uses = new ArrayList<>();
        for (int i = 0; i < SegmentLayout.MEMBERS + 2; i++) {
            uses.add(take(List.of("gpu:0")));
        }
        assertEquals(SegmentLayout.MEMBERS, uses.getLast().others());
        uses.forEach(DeviceUse::close);
        try (DeviceUse use = take(List.of("gpu:0"))) {
            assertEquals(0, use.others());
        }
    }

    @Test
    void shouldFreeTheDeviceOfAProcessThatIsKilled() throws Exception {
        final Process member = new ProcessBuilder(TestJvm.command(Member.class, uri))
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            assertEquals("0", member.inputReader().readLine());
            try (DeviceUse use = take(DEVICES)) {
                assertEquals(1, use.index());
            }
        } finally {
            member.destroyForcibly();
        }
        member.waitFor();
        try (DeviceUse use = take(DEVICES)) {
            assertEquals(0, use.index());
            assertTrue(use.others() == 0);
        }
    }
}
