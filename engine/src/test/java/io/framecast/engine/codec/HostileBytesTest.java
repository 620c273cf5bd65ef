package io.framecast.engine.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.esotericsoftware.kryo.io.Output;
import com.sun.management.ThreadMXBean;
import io.framecast.api.FrameOptions;
import io.framecast.api.error.CodecException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Bytes from a malicious peer: each message ends in an exception or a valid record, within bounded memory.
final class HostileBytesTest {
    private static final int ROUNDS = 30_000;
    private static final int MANY_ROUNDS = 300_000;
    // The first ones load classes, and link what they call.
    private static final int FIRST_ROUNDS = 1_000;
    private static final long SEED = 0xBAD_B17E5L;

    /// A message holds 1 kB at most. Each of its bytes creates at most one small object with its wrapper and entry,
    /// or an exception with its trace at the end.
    private static final long ALLOCATED_BYTES_MAX = 256 * 1024;

    /// Its initialiser must never run, and it is in no codec.
    record Trap(int value) {
        static {
            Trace.loaded = true;
        }
    }

    static final class Trace {
        static boolean loaded;

        private Trace() {}
    }

    record Greedy(int bytes) {
        Greedy {
            final byte[] memory = new byte[bytes];
            if (memory.length != bytes) {
                throw new AssertionError();
            }
        }
    }

    record Endless(int value) {
        Endless {
            if (value > 0) {
                recurse(value);
            }
        }

        private static int recurse(final int value) {
            return value == 0 ? 0 : 1 + recurse(value + 1) * 3;
        }
    }

    record Sets(java.util.Set<Angry> items) {}

    record Angry(int value) {
        @Override
        public int hashCode() {
            throw new AssertionError("no hash for " + value);
        }

        @Override
        public boolean equals(final Object other) {
            return other instanceof final Angry angry && angry.value == value;
        }
    }

    private final KryoCodec codec = new KryoCodec(Records.ALL);
    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @Test
    void shouldOnlyRefuseOrDecodeWhenBytesAreHostile() {
        decode(ROUNDS);
    }

    @Tag("campaign")
    @Test
    void shouldOnlyRefuseOrDecodeWhenBytesAreHostileInManyRounds() {
        decode(MANY_ROUNDS);
    }

    private void decode(final long rounds) {
        final SplittableRandom random = new SplittableRandom(SEED);
        final List<byte[]> corpus = corpus(random);
        long refused = 0;
        long decoded = 0;
        long allocatedMax = 0;
        for (int i = 0; i < rounds; i++) {
            final byte[] bytes = hostile(random, corpus);
            final Class<? extends Record> type = targetOf(random, bytes);
            final long before = threads.getCurrentThreadAllocatedBytes();
            Record record = null;
            try {
                record = codec.decode(type, bytes);
            } catch (final CodecException e) {
                refused++;
                assertFalse(e.getMessage().contains("\n"), e.getMessage());
            }
            final long allocated = threads.getCurrentThreadAllocatedBytes() - before;
            allocatedMax = i < FIRST_ROUNDS ? 0 : Math.max(allocatedMax, allocated);
            if (record != null) {
                decoded++;
                assertEquals(type, record.getClass());
                assertTrue(codec.encode(record).length <= FrameOptions.METADATA_BYTES_MAX);
            }
        }
        assertTrue(refused > rounds / 10, refused + " refused");
        assertTrue(decoded > rounds / 100, decoded + " decoded");
        assertTrue(allocatedMax < ALLOCATED_BYTES_MAX, "one decode allocated " + allocatedMax + " bytes");
    }

    @Test
    void shouldRefuseWithoutMemoryWhenCountIsHuge() {
        for (final Class<? extends Record> type : Records.ALL) {
            for (int component = 0; component < type.getRecordComponents().length; component++) {
                final byte[] bytes = new byte[1 + component + 5];
                bytes[0] = recordId(type);
                // 2^31 − 1 as a varint, behind nulls, zeros and empty values.
                Arrays.fill(bytes, 1 + component, bytes.length, (byte) 0xFF);
                bytes[bytes.length - 1] = 0x07;
                final long before = threads.getCurrentThreadAllocatedBytes();
                assertThrows(CodecException.class, () -> codec.decode(type, bytes));
                final long allocated = threads.getCurrentThreadAllocatedBytes() - before;
                assertTrue(allocated < ALLOCATED_BYTES_MAX, type + " allocated " + allocated);
            }
        }
    }

    @Test
    void shouldRefuseWhenBytesNameAClass() {
        try (Output output = new Output(256)) {
            // Kryo writes a class by name as id 1, name id 0, the name.
            output.writeVarInt(1, true);
            output.writeVarInt(0, true);
            output.writeString(Trap.class.getName());
            final byte[] bytes = output.toBytes();
            final CodecException refused =
                    assertThrows(CodecException.class, () -> codec.decode(Records.Range.class, bytes));
            assertTrue(refused.getMessage().contains("by name"), refused.getMessage());
        }
        assertFalse(Trace.loaded);
    }

    @Test
    void shouldRefuseWhenMessageIsLongerThanMetadataMayBe() {
        final byte[] bytes = new byte[FrameOptions.METADATA_BYTES_MAX + 1];
        assertThrows(CodecException.class, () -> codec.decode(Records.Range.class, bytes));
        assertThrows(CodecException.class, () -> codec.decode(Records.Range.class, new byte[0]));
    }

    @Test
    void shouldRefuseWhenRecordsOwnCodeFailsOnHostileValues() {
        final KryoCodec fragile = new KryoCodec(List.of(Greedy.class, Endless.class, Sets.class, Angry.class));
        final byte[] greedy = fragile.encode(new Greedy(1));
        final byte[] hostile = Arrays.copyOf(greedy, 6);
        // Zigzag of 2^31 − 1: an array longer than any VM gives.
        hostile[1] = (byte) 0xFE;
        hostile[2] = (byte) 0xFF;
        hostile[3] = (byte) 0xFF;
        hostile[4] = (byte) 0xFF;
        hostile[5] = 0x0F;
        assertThrows(CodecException.class, () -> fragile.decode(Greedy.class, hostile));
        final byte[] endless = fragile.encode(new Endless(0));
        endless[1] = 2;
        assertThrows(CodecException.class, () -> fragile.decode(Endless.class, endless));
        final byte[] sets = fragile.encode(new Sets(java.util.Set.of()));
        final byte[] angry = {sets[0], 2, 1, 0};
        final CodecException refused = assertThrows(CodecException.class, () -> fragile.decode(Sets.class, angry));
        assertTrue(refused.getMessage().contains("no hash for 0"), refused.getMessage());
    }

    /// The record that the bytes claim to be, mostly, so that decoding gets past the first byte.
    private Class<? extends Record> targetOf(final SplittableRandom random, final byte[] bytes) {
        final int index = bytes.length == 0 ? -1 : bytes[0] - recordId(Records.ALL.getFirst());
        return index >= 0 && index < Records.ALL.size() && random.nextInt(20) != 0
                ? Records.ALL.get(index)
                : Records.ALL.get(random.nextInt(Records.ALL.size()));
    }

    private byte recordId(final Class<? extends Record> type) {
        final byte first = codec.encode(new Records.Empty())[0];
        return (byte) (first + Records.ALL.indexOf(type));
    }

    private List<byte[]> corpus(final SplittableRandom random) {
        final List<byte[]> corpus = new ArrayList<>();
        while (corpus.size() < 2_000) {
            final Class<? extends Record> type = Records.ALL.get(random.nextInt(Records.ALL.size()));
            try {
                corpus.add(codec.encode(Records.random(random, type, 0)));
            } catch (final CodecException e) {
                assertTrue(e.getMessage().contains("more than 1024 bytes"), e.getMessage());
            }
        }
        return corpus;
    }

    private byte[] hostile(final SplittableRandom random, final List<byte[]> corpus) {
        final byte[] valid = corpus.get(random.nextInt(corpus.size()));
        return switch (random.nextInt(5)) {
            case 0 -> Arrays.copyOf(valid, random.nextInt(valid.length + 1));
            case 1 -> Arrays.copyOf(valid, valid.length + 1 + random.nextInt(64));
            case 2 -> noise(random);
            case 3 -> repeated(random);
            default -> mutated(random, valid);
        };
    }

    private byte[] noise(final SplittableRandom random) {
        final byte[] bytes = new byte[random.nextInt(FrameOptions.METADATA_BYTES_MAX + 1)];
        random.nextBytes(bytes);
        claim(random, bytes);
        return bytes;
    }

    /// One value over and over: nests records as deep, or makes collections as long, as the bytes reach.
    private byte[] repeated(final SplittableRandom random) {
        final byte[] bytes = new byte[random.nextInt(FrameOptions.METADATA_BYTES_MAX + 1)];
        Arrays.fill(bytes, (byte) (random.nextBoolean() ? random.nextInt(4) : random.nextInt(256)));
        claim(random, bytes);
        for (int i = random.nextInt(3); i > 0 && bytes.length > 8; i--) {
            bytes[1 + random.nextInt(7)] = (byte) random.nextInt(256);
        }
        return bytes;
    }

    private void claim(final SplittableRandom random, final byte[] bytes) {
        if (bytes.length > 0) {
            bytes[0] = recordId(Records.ALL.get(random.nextInt(Records.ALL.size())));
        }
    }

    private static byte[] mutated(final SplittableRandom random, final byte[] valid) {
        final byte[] bytes = valid.clone();
        for (int i = 1 + random.nextInt(4); i > 0; i--) {
            final int at = random.nextInt(bytes.length);
            bytes[at] = (byte) (random.nextBoolean() ? bytes[at] ^ (1 << random.nextInt(8)) : random.nextInt(256));
        }
        return bytes;
    }
}
