package io.framecast.perf.links;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.perf.harness.Connections;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Both ends of a hop by RDMA writes, in one process.
final class RcLinkTest {
    private static final int PART_BYTES = 100_000;
    private static final int PARTS = 500;

    private final MemoryNic nic = new MemoryNic();
    private final Arena arena = Arena.ofShared();
    private RcReader reader;
    private RcWriter writer;

    @BeforeEach
    void connect() throws Exception {
        try (ServerSocketChannel server = Connections.listen("127.0.0.1", 0)) {
            final int port = ((InetSocketAddress) server.getLocalAddress()).getPort();
            final FutureTask<RcReader> connecting =
                    start(() -> RcReader.connect(nic, Connections.connect("127.0.0.1", port, 1, 0), PART_BYTES));
            final SocketChannel channel = Connections.accept(server, List.of(1)).getFirst();
            writer = RcWriter.accept(nic, channel, PART_BYTES);
            reader = connecting.get();
        }
    }

    @AfterEach
    void close() throws IOException {
        writer.close();
        reader.close();
        arena.close();
    }

    private static <T> FutureTask<T> start(final Callable<T> action) {
        final FutureTask<T> task = new FutureTask<>(action);
        Thread.ofPlatform().daemon().name("other-end").start(task);
        return task;
    }

    @Test
    void shouldCarryPartsInOrderThroughTwoSlots() throws Exception {
        final MemorySegment from = arena.allocate(4L * PART_BYTES, 64);
        writer.use(from);
        final FutureTask<Long> reading = start(() -> {
            final MemorySegment into = arena.allocate(PART_BYTES, 64);
            long right = 0;
            for (int i = 0; i < PARTS; i++) {
                // The last of a frame is shorter.
                final MemorySegment part = into.asSlice(0, PART_BYTES - i % 3);
                reader.read(part);
                right += part.get(ValueLayout.JAVA_BYTE, part.byteSize() - 1) == (byte) i
                                && part.get(ValueLayout.JAVA_INT, 0) == i
                        ? 1
                        : 0;
            }
            return right;
        });
        for (int i = 0; i < PARTS; i++) {
            // A part may change when the one behind it has been written.
            final MemorySegment part = from.asSlice((long) i % 2 * PART_BYTES, PART_BYTES - i % 3);
            part.set(ValueLayout.JAVA_INT, 0, i);
            part.set(ValueLayout.JAVA_BYTE, part.byteSize() - 1, (byte) i);
            writer.write(part);
        }
        writer.flush();
        assertEquals(PARTS, reading.get());
    }

    @Test
    void shouldSendFromNamedMemoryAlone() {
        final MemorySegment other = arena.allocate(PART_BYTES);
        assertThrows(IllegalArgumentException.class, () -> writer.write(other));
    }

    @Test
    void shouldWaitForRoomUntilItIsInterrupted() throws Exception {
        final MemorySegment from = arena.allocate(PART_BYTES, 64);
        writer.use(from);
        final AtomicInteger written = new AtomicInteger();
        final FutureTask<Void> writing = start(() -> {
            try {
                while (true) {
                    writer.write(from);
                    written.incrementAndGet();
                }
            } catch (final IOException e) {
                return null;
            }
        });
        while (written.get() < HopLink.PARTS_UNDER_WAY) {
            assertEquals(false, writing.isDone());
            Thread.sleep(1);
        }
        Thread.sleep(20);
        writer.interrupt();
        writing.get();
        assertEquals(HopLink.PARTS_UNDER_WAY, written.get());
    }

    @Test
    void shouldFailToReadWhatNeverComes() throws Exception {
        final FutureTask<Void> reading = start(() -> {
            reader.read(arena.allocate(PART_BYTES));
            return null;
        });
        reader.interrupt();
        final ExecutionException failure = assertThrows(ExecutionException.class, reading::get);
        assertTrue(String.valueOf(failure.getMessage()).contains("no part: interrupted"), failure::toString);
    }
}
