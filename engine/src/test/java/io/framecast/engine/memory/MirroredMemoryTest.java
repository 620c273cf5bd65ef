package io.framecast.engine.memory;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.framecast.engine.libc.Linux;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class MirroredMemoryTest {
    private final long bytes = 16 * MirroredMemory.pageBytes();

    private static void assumeMirrors() {
        assumeTrue(Linux.isPresent(), "this system has no memfd_create");
    }

    @Test
    void shouldShowEachByteTwiceWhenMirrored() {
        assumeMirrors();
        try (MirroredMemory memory = MirroredMemory.allocate(bytes, 0)) {
            assertTrue(memory.mirrored());
            final MemorySegment segment = memory.segment();
            assertEquals(2 * bytes, segment.byteSize());
            final Random random = new Random(1);
            for (int i = 0; i < 10_000; i++) {
                final long at = random.nextLong(2 * bytes - Long.BYTES);
                final long value = random.nextLong();
                segment.set(JAVA_LONG_UNALIGNED, at, value);
                assertEquals(value, segment.get(JAVA_LONG_UNALIGNED, at));
                assertEquals(segment.get(JAVA_BYTE, at), segment.get(JAVA_BYTE, (at + bytes) % (2 * bytes)));
            }
            assertEquals(-1, segment.asSlice(0, bytes).mismatch(segment.asSlice(bytes, bytes)));
        }
    }

    @Test
    void shouldKeepAWrappingFrameContiguousWhenMirrored() {
        assumeMirrors();
        try (MirroredMemory memory = MirroredMemory.allocate(bytes, 0)) {
            final MemorySegment segment = memory.segment();
            // Two parts as a ring would write them: the tail at its end, the head at its beginning.
            segment.asSlice(bytes - 100, 100).fill((byte) 1);
            segment.asSlice(0, 50).fill((byte) 2);
            final byte[] frame = segment.asSlice(bytes - 100, 150).toArray(JAVA_BYTE);
            for (int i = 0; i < frame.length; i++) {
                assertEquals(i < 100 ? 1 : 2, frame[i]);
            }
        }
    }

    @Test
    void shouldBePlainWhenNotWholePages() {
        try (MirroredMemory memory = MirroredMemory.allocate(bytes + 1, 7)) {
            assertFalse(memory.mirrored());
            assertEquals(bytes + 8, memory.segment().byteSize());
            memory.segment().set(JAVA_BYTE, bytes + 7, (byte) 1);
            assertEquals(0, memory.segment().get(JAVA_BYTE, 0));
        }
        try (MirroredMemory memory = MirroredMemory.plain(bytes)) {
            assertFalse(memory.mirrored());
            assertEquals(bytes, memory.segment().byteSize());
        }
    }

    @Test
    void shouldBeZeroedAndAligned() {
        try (MirroredMemory memory = MirroredMemory.allocate(bytes, 0)) {
            assertEquals(0, memory.segment().address() % MirroredMemory.pageBytes());
            for (final byte b : memory.segment().toArray(JAVA_BYTE)) {
                assertEquals(0, b);
            }
        }
    }

    @Test
    void shouldRefuseLengthsThatCannotBe() {
        assertThrows(IllegalArgumentException.class, () -> MirroredMemory.allocate(0, 0));
        assertThrows(IllegalArgumentException.class, () -> MirroredMemory.allocate(-bytes, 0));
        assertThrows(IllegalArgumentException.class, () -> MirroredMemory.allocate(bytes, bytes + 1));
        assertThrows(IllegalArgumentException.class, () -> MirroredMemory.allocate(bytes, -1));
    }

    @Test
    void shouldGiveEverythingBackWhenClosed() throws IOException {
        assumeMirrors();
        // A first one loads the classes, which may map files of their own.
        MirroredMemory.allocate(bytes, 0).close();
        final long mapped = ringMappings();
        final long descriptors = descriptors();
        final MirroredMemory memory = MirroredMemory.allocate(bytes, 0);
        assertEquals(mapped + 2, ringMappings());
        assertEquals(descriptors, descriptors());
        final MemorySegment segment = memory.segment();
        memory.close();
        memory.close();
        assertEquals(mapped, ringMappings());
        assertThrows(IllegalStateException.class, () -> segment.get(JAVA_BYTE, 0));
    }

    private static long ringMappings() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains("framecast-ring")).count();
        }
    }

    private static long descriptors() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return files.count();
        }
    }
}
