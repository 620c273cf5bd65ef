package io.framecast.engine.clients;

import static io.framecast.fuzz.FuzzLimits.require;
import static io.framecast.fuzz.FuzzLimits.requireAllocation;
import static io.framecast.fuzz.FuzzLimits.requireEqual;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.framecast.api.error.TransportException;
import io.framecast.engine.libc.EventCount;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import io.framecast.fuzz.FuzzCorpus;
import io.framecast.fuzz.FuzzInput;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/// A client that publishes writes what it wants into its ring and its words. An input is a script: each step writes
/// bytes behind what is committed, commits, or writes a word; then the publishing process polls. Every record lies
/// within what is committed, or the ring is refused in one line.
public final class ClientRingFuzzTest {
    private static final long ALLOCATED_MAX = 2 << 20;
    private static final int RING_BYTES = 16 << 10;
    private static final long FRAME_MAX = 3_000;
    private static final int STEPS_MAX = 64;
    private static final long[] TELLING = {0, 1, -1, RING_BYTES, Long.MAX_VALUE, Long.MIN_VALUE, 64, 1L << 40};

    private static final int WRITE = 0;
    private static final int COMMIT = 1;
    private static final int WORD = 2;
    private static final int POLL = 3;

    @TestFactory
    Stream<DynamicTest> shouldReadRecordsWithinTheRing() {
        assumeTrue(Linux.isPresent(), () -> Linux.unavailable().orElse(""));
        final ByteArrayOutputStream two = new ByteArrayOutputStream();
        two.writeBytes(record(ClientLayout.FRAME, 100, 10));
        two.writeBytes(record(ClientLayout.FORMAT, 20, 0));
        two.writeBytes(record(ClientLayout.END, 0, 0));
        // Jazzer makes inputs about as long as the longest of the corpus.
        final ByteArrayOutputStream many = new ByteArrayOutputStream();
        for (int i = 0; i < 6; i++) {
            many.writeBytes(record(ClientLayout.FRAME, 700 * i + 1, 100 * i));
        }
        return FuzzCorpus.of(
                ClientRingFuzzTest.class,
                Map.of(
                        "frame", record(ClientLayout.FRAME, 100, 10),
                        "stream", two.toByteArray(),
                        "many", many.toByteArray()),
                ClientRingFuzzTest::fuzzerTestOneInput);
    }

    // The steps that publish one record.
    private static byte[] record(final int kind, final int length, final int metadata) {
        final ByteBuffer steps =
                ByteBuffer.allocate(ClientLayout.RECORD_BYTES + 5).order(ByteOrder.LITTLE_ENDIAN);
        steps.put((byte) WRITE).put((byte) ClientLayout.RECORD_BYTES);
        steps.putInt(kind).putInt(1).putLong(length).putLong(5).putInt(metadata);
        steps.position(2 + ClientLayout.RECORD_BYTES);
        steps.put((byte) COMMIT)
                .put((byte) (ClientLayout.recordBytes(length, metadata) / 64))
                .put((byte) POLL);
        return steps.array();
    }

    public static void fuzzerTestOneInput(final byte[] input) {
        requireAllocation(ALLOCATED_MAX, () -> {
            try (Client client = new Client(new FuzzInput(input))) {
                client.play();
            }
        });
    }

    private static final class Client implements AutoCloseable {
        private final FuzzInput in;
        private final Arena arena = Arena.ofShared();
        private final int[] descriptors = {
            memory(RING_BYTES), memory(ClientLayout.WORDS_BYTES), EventCount.open(), EventCount.open()
        };
        private final MemorySegment ring = map(descriptors[ClientLayout.RING], RING_BYTES);
        private final MemorySegment words = map(descriptors[ClientLayout.WORDS], ClientLayout.WORDS_BYTES);
        private long committed;

        Client(final FuzzInput in) {
            this.in = in;
        }

        private int memory(final int bytes) {
            final int made = Libc.memfdCreate(arena.allocateFrom("fuzz"), Linux.MFD_CLOEXEC | Linux.MFD_ALLOW_SEALING);
            Libc.posixFallocate(made, bytes);
            Libc.fcntl(made, Linux.F_ADD_SEALS, Linux.F_SEAL_SHRINK | Linux.F_SEAL_GROW);
            return made;
        }

        private MemorySegment map(final int descriptor, final int bytes) {
            return Libc.mapped(Libc.mmap(0, bytes, Linux.PROT_READ_WRITE, Linux.MAP_SHARED, descriptor), bytes, arena);
        }

        private void put(final int at, final long value) {
            words.set(java.lang.foreign.ValueLayout.JAVA_LONG, at, value);
        }

        void play() {
            put(ClientLayout.RING_BYTES_AT, in.below(16) == 15 ? in.wide() : RING_BYTES);
            try (ClientRing server = new ClientRing(descriptors)) {
                for (int i = 0; i < STEPS_MAX && !in.isEmpty(); i++) {
                    step(server);
                }
            } catch (final TransportException e) {
                requireEqual(1L, String.valueOf(e.getMessage()).lines().count());
            }
        }

        private void step(final ClientRing server) {
            switch (in.below(4)) {
                case WRITE -> {
                    final byte[] bytes = in.take(in.unsignedByte());
                    for (int i = 0; i < bytes.length; i++) {
                        ring.set(JAVA_BYTE, (committed + i) % RING_BYTES, bytes[i]);
                    }
                }
                case COMMIT -> {
                    committed += in.unsignedByte() * 64L;
                    put(ClientLayout.COMMITTED_AT, committed);
                }
                case WORD -> put(in.below(32) * Long.BYTES, in.isSet() ? in.wide() : TELLING[in.below(TELLING.length)]);
                default -> poll(server);
            }
        }

        private static void poll(final ClientRing server) {
            final ClientRing.Entry entry = server.poll(FRAME_MAX);
            if (entry != null) {
                require(entry.metadata().length <= 1024, "metadata");
                require(entry.payload().byteSize() <= FRAME_MAX, "a frame");
                for (long i = 0; i < entry.payload().byteSize(); i += 512) {
                    entry.payload().get(JAVA_BYTE, i);
                }
                server.release();
            }
            server.report(1, ClientLayout.OPEN);
            server.isAwaited();
            if (server.sleeps()) {
                server.wakes();
            }
        }

        @Override
        public void close() {
            arena.close();
        }
    }
}
