package io.framecast.engine.codec;

import static io.framecast.fuzz.FuzzLimits.require;
import static io.framecast.fuzz.FuzzLimits.requireAllocation;
import static io.framecast.fuzz.FuzzLimits.requireEqual;

import io.framecast.api.FrameOptions;
import io.framecast.api.error.CodecException;
import io.framecast.fuzz.FuzzCorpus;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/// Metadata of a malicious peer: the first byte chooses the record that is expected, the others are the message. It is
/// refused in one line, or read, and read again from its own encoding as the same record.
public final class KryoFuzzTest {
    // Each nested list makes room for as many elements as there are bytes left: 1024 of 1024 at most.
    private static final long ALLOCATED_MAX = 4 << 20;
    private static final KryoCodec CODEC = new KryoCodec(Records.ALL);

    @TestFactory
    Stream<DynamicTest> shouldReadOrRefuse() {
        final SplittableRandom random = new SplittableRandom(7);
        final Map<String, byte[]> seeds = new HashMap<>();
        for (int type = 0; type < Records.ALL.size(); type++) {
            for (int i = 0; i < 3; i++) {
                final Record record = Records.random(random, Records.ALL.get(type), 1);
                try {
                    final byte[] message = CODEC.encode(record);
                    final byte[] seed = new byte[1 + message.length];
                    seed[0] = (byte) type;
                    System.arraycopy(message, 0, seed, 1, message.length);
                    seeds.put(record.getClass().getSimpleName() + "-" + i, seed);
                } catch (final CodecException e) {
                    require(String.valueOf(e.getMessage()).contains("more than 1024 bytes"), "room for the record");
                }
            }
        }
        return FuzzCorpus.of(KryoFuzzTest.class, seeds, KryoFuzzTest::fuzzerTestOneInput);
    }

    public static void fuzzerTestOneInput(final byte[] input) {
        if (input.length > 0) {
            final Class<? extends Record> type = Records.ALL.get((input[0] & 0xff) % Records.ALL.size());
            final byte[] message = Arrays.copyOfRange(input, 1, input.length);
            requireAllocation(ALLOCATED_MAX, () -> read(type, message));
        }
    }

    private static void read(final Class<? extends Record> type, final byte[] message) {
        final Record record;
        try {
            record = CODEC.decode(type, message);
        } catch (final CodecException e) {
            requireEqual(1L, String.valueOf(e.getMessage()).lines().count());
            return;
        }
        requireEqual(type, record.getClass());
        final byte[] encoded = CODEC.encode(record);
        require(encoded.length <= FrameOptions.METADATA_BYTES_MAX, "a length that metadata may have");
        require(Records.same(record, CODEC.decode(type, encoded)), "the same record");
    }
}
