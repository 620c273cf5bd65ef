package io.framecast.engine.codec;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.FrameOptions;
import io.framecast.api.error.CodecException;
import io.framecast.api.error.ConfigException;
import io.framecast.engine.codec.Records.Range;
import io.framecast.engine.codec.Records.Tree;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/// Round trips, and the refusals of a codec and of a message.
final class KryoCodecTest {
    private static final int ROUNDS = 20_000;
    private static final long SEED = 0x5EED_C0DE;

    private final KryoCodec codec = new KryoCodec(Records.ALL);

    record Objects(Object any) {}

    record RawList(@SuppressWarnings("rawtypes") List items) {}

    record Wild(List<? extends Number> items) {}

    record Generic<T>(T item) {}

    @SuppressWarnings("ArrayRecordComponent")
    record Matrix(int[][] rows) {}

    record ArrayKeys(Map<byte[], String> map) {}

    record Unlisted(Range range) {}

    record TooNested(List<List<List<List<List<List<List<List<List<Integer>>>>>>>>> list) {}

    @SuppressWarnings("ArrayRecordComponent")
    record Blob(byte[] bytes) {}

    record Shy(int value) {
        @Override
        public int value() {
            if (value >= 0) {
                throw new IllegalStateException("not now");
            }
            return value;
        }
    }

    @Test
    void shouldComeBackTheSameWhenAnyRecordIsEncoded() {
        final SplittableRandom random = new SplittableRandom(SEED);
        int encoded = 0;
        final Set<Class<?>> seen = new HashSet<>();
        for (int i = 0; i < ROUNDS; i++) {
            final Class<? extends Record> type = Records.ALL.get(random.nextInt(Records.ALL.size()));
            final Record record = Records.random(random, type, 0);
            final byte[] bytes;
            try {
                bytes = codec.encode(record);
            } catch (final CodecException e) {
                assertTrue(e.getMessage().contains("more than 1024 bytes"), e.getMessage());
                continue;
            }
            encoded++;
            seen.add(type);
            final Record decoded = codec.decode(type, bytes);
            assertTrue(Records.same(record, decoded), () -> record + " came back as " + decoded);
            assertArrayEquals(bytes, codec.encode(decoded));
        }
        assertEquals(Set.copyOf(Records.ALL), seen);
        assertTrue(encoded > ROUNDS * 9 / 10, encoded + " of " + ROUNDS + " were short enough");
    }

    @Test
    void shouldEncodeToAFewBytesWhenRecordIsSmall() {
        assertEquals(3, codec.encode(new Range(0, 63)).length);
    }

    @Test
    void shouldAcceptExactlyTheMaximumWhenRecordFillsIt() {
        final KryoCodec blobs = new KryoCodec(List.of(Blob.class));
        // One byte of record id and two of count come before the blob.
        final byte[] most = new byte[FrameOptions.METADATA_BYTES_MAX - 3];
        Arrays.fill(most, (byte) 7);
        final byte[] encoded = blobs.encode(new Blob(most));
        assertEquals(FrameOptions.METADATA_BYTES_MAX, encoded.length);
        assertArrayEquals(most, blobs.decode(Blob.class, encoded).bytes());
        final CodecException refused =
                assertThrows(CodecException.class, () -> blobs.encode(new Blob(new byte[most.length + 1])));
        assertTrue(refused.getMessage().contains("more than 1024 bytes"), refused.getMessage());
        assertEquals(4, blobs.encode(new Blob(new byte[2])).length, "a refused record leaves nothing behind");
    }

    @Test
    void shouldGiveUnchangeableCollectionsWhenDecoded() {
        final Tree tree = codec.decode(Tree.class, codec.encode(new Tree("a", new ArrayList<>())));
        assertThrows(UnsupportedOperationException.class, () -> tree.children().add(tree));
    }

    @Test
    void shouldRefuseWhenRecordIsNotRegistered() {
        final CodecException encode = assertThrows(CodecException.class, () -> codec.encode(new Blob(new byte[1])));
        assertTrue(encode.getMessage().contains("list it"), encode.getMessage());
        assertThrows(CodecException.class, () -> codec.decode(Blob.class, new byte[] {10, 0}));
    }

    @Test
    void shouldRefuseWhenBytesHoldAnotherRegisteredRecord() {
        final byte[] range = codec.encode(new Range(1, 2));
        assertThrows(CodecException.class, () -> codec.decode(Tree.class, range));
    }

    @Test
    void shouldRefuseWhenBytesAreLeftOver() {
        final byte[] range = codec.encode(new Range(1, 2));
        final CodecException refused = assertThrows(
                CodecException.class, () -> codec.decode(Range.class, Arrays.copyOf(range, range.length + 1)));
        assertTrue(refused.getMessage().contains("1 bytes are left over"), refused.getMessage());
    }

    @Test
    void shouldSayWhyInOneLineWhenConstructorThrows() {
        final byte[] bytes = codec.encode(new Range(1, 2));
        bytes[1] = 126;
        final CodecException refused = assertThrows(CodecException.class, () -> codec.decode(Range.class, bytes));
        assertTrue(refused.getMessage().contains("Range threw"), refused.getMessage());
        assertFalse(refused.getMessage().contains("\n"), refused.getMessage());
        assertEquals(new Range(1, 2), codec.decode(Range.class, codec.encode(new Range(1, 2))));
    }

    @Test
    void shouldRefuseWhenAccessorThrows() {
        final KryoCodec shy = new KryoCodec(List.of(Shy.class));
        final CodecException refused = assertThrows(CodecException.class, () -> shy.encode(new Shy(1)));
        assertTrue(refused.getMessage().contains("not now"), refused.getMessage());
    }

    @Test
    void shouldRefuseWhenRecordsNestTooDeep() {
        Tree tree = new Tree("leaf", List.of());
        for (int i = 1; i < KryoCodec.DEPTH_MAX; i++) {
            tree = new Tree("n", List.of(tree));
        }
        assertEquals(tree, codec.decode(Tree.class, codec.encode(tree)));
        final Tree deeper = new Tree("n", List.of(tree));
        assertThrows(CodecException.class, () -> codec.encode(deeper));
        final List<Tree> self = new ArrayList<>();
        self.add(new Tree("cycle", self));
        assertThrows(CodecException.class, () -> codec.encode(self.getFirst()));
        assertEquals(tree, codec.decode(Tree.class, codec.encode(tree)), "depth is counted anew after a refusal");
    }

    @Test
    void shouldRefuseWhenStringHasNoUtf8() {
        final CodecException refused =
                assertThrows(CodecException.class, () -> codec.encode(new Tree("\uD800", List.of())));
        assertTrue(refused.getMessage().contains("surrogate"), refused.getMessage());
    }

    @Test
    void shouldNameRecordAndComponentWhenTypeIsNotSupported() {
        for (final Class<? extends Record> type : List.<Class<? extends Record>>of(
                Objects.class,
                RawList.class,
                Wild.class,
                Generic.class,
                Matrix.class,
                ArrayKeys.class,
                Unlisted.class,
                TooNested.class)) {
            final ConfigException refused =
                    assertThrows(ConfigException.class, () -> new KryoCodec(List.of(type)), type.getName());
            final String component = type.getRecordComponents()[0].getName();
            assertTrue(refused.getMessage().contains(type.getName()), refused.getMessage());
            assertTrue(refused.getMessage().contains("component " + component), refused.getMessage());
            assertFalse(refused.getMessage().contains("\n"), refused.getMessage());
        }
    }

    @Test
    void shouldRefuseWhenRecordIsListedTwice() {
        assertThrows(ConfigException.class, () -> new KryoCodec(List.of(Range.class, Range.class)));
        assertThrows(ConfigException.class, () -> new KryoCodec(List.of(Record.class)));
    }
}
