package io.framecast.engine.memory;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.DeviceException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SystemMemoryTest {
    private static final long KILO = 1L << 10;
    private static final long MEGA = 1L << 20;
    private static final long GIGA = 1L << 30;

    @TempDir
    Path root;

    private SystemMemory memory;

    @BeforeEach
    void open() throws IOException {
        memory = new SystemMemory(root.resolve("proc"), root.resolve("cgroup"));
        write("proc/meminfo", "MemTotal:       24000000 kB\nMemFree:         100 kB\nMemAvailable:   10000000 kB\n");
    }

    private void write(final String path, final String text) throws IOException {
        Files.createDirectories(root.resolve(path).getParent());
        Files.writeString(root.resolve(path), text);
    }

    @Test
    void shouldTakeWhatTheSystemHasAvailableWhenNoGroupLimitsIt() throws IOException {
        assertEquals(10_000_000 * KILO, memory.getAsLong());
        write("proc/self/cgroup", "0::/user/me\n");
        write("cgroup/user/me/memory.max", "max\n");
        write("cgroup/user/me/memory.current", "5000\n");
        assertEquals(10_000_000 * KILO, memory.getAsLong());
    }

    @Test
    void shouldTakeWhatIsLeftOfTheTightestGroupOfVersionTwo() throws IOException {
        write("proc/self/cgroup", "0::/user/me\n");
        write("cgroup/user/me/memory.max", 4 * GIGA + "\n");
        write("cgroup/user/me/memory.current", GIGA + "\n");
        assertEquals(3 * GIGA, memory.getAsLong());
        write("cgroup/user/memory.max", 2 * GIGA + "\n");
        write("cgroup/user/memory.current", GIGA + 500 * MEGA + "\n");
        write("cgroup/user/memory.stat", "anon 5\nfile 900\ninactive_file " + 100 * MEGA + "\nactive_file 7\n");
        assertEquals(GIGA - 400 * MEGA, memory.getAsLong());
    }

    @Test
    void shouldTakeWhatIsLeftOfTheGroupOfVersionOne() throws IOException {
        write("proc/self/cgroup", "12:cpu,cpuacct:/x\n5:memory:/docker/abc\n0::/\n");
        // In a container the host's path is not there, and the root is the group.
        write("cgroup/memory/memory.limit_in_bytes", GIGA + "\n");
        write("cgroup/memory/memory.usage_in_bytes", 2 * GIGA + "\n");
        assertEquals(0, memory.getAsLong());
        write("cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
        assertEquals(10_000_000 * KILO, memory.getAsLong());
    }

    @Test
    void shouldKnowNoBoundWhereTheSystemDoesNotSay() throws IOException {
        Files.delete(root.resolve("proc/meminfo"));
        assertEquals(Long.MAX_VALUE, memory.getAsLong());
        assertTrue(SystemMemory.availableBytes() > 0);
    }

    @Test
    void shouldLeaveAMarginWhenMuchIsAskedFor() {
        assertDoesNotThrow(() -> SystemMemory.require(900 * MEGA, () -> GIGA));
        assertThrows(OutOfMemoryError.class, () -> SystemMemory.require(GIGA - 10 * MEGA, () -> GIGA));
        assertDoesNotThrow(() -> SystemMemory.require(MEGA, () -> 0));
        assertDoesNotThrow(() -> SystemMemory.require(1L << 40, () -> Long.MAX_VALUE));
    }

    @Test
    void shouldTakeNothingWhenThereIsNoRoom() {
        assertThrows(OutOfMemoryError.class, () -> MirroredMemory.allocate(128 * MEGA, 0, () -> 100 * MEGA));
        try (HostBackend device = new HostBackend(() -> 100 * MEGA)) {
            assertEquals(100 * MEGA, device.availableBytes());
            final DeviceException e = assertThrows(DeviceException.class, () -> device.allocatePinned(128 * MEGA));
            assertTrue(e.getMessage().startsWith("host: no room for " + 128 * MEGA), e::getMessage);
            assertThrows(DeviceException.class, () -> device.allocate(128 * MEGA));
            assertEquals(0, device.allocatedBytes());
        }
    }
}
