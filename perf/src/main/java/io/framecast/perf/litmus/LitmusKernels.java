package io.framecast.perf.litmus;

import io.framecast.api.spi.KernelSource;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// The kernels of `litmus.cu`: their PTX, and the same in Java. Word i of round r's pattern is a function of
/// both, so that a word of any other round, or of another place, shows.
final class LitmusKernels {
    static final String PTX_RESOURCE = "/io/framecast/perf/litmus.ptx";
    static final int RESULT_BYTES = 2 * Long.BYTES;

    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final long ROUND_FACTOR = 0x9E3779B97F4A7C15L;
    private static final long INDEX_FACTOR = 0xBF58476D1CE4E5B9L;

    private LitmusKernels() {}

    static long word(final long round, final long index) {
        return (round + 1) * ROUND_FACTOR + index * INDEX_FACTOR;
    }

    /// Arguments: frame, words, round.
    static KernelSource fill() {
        return new KernelSource(
                "litmus_fill",
                LitmusKernels::ptx,
                (memory, _, _, arguments) -> write(memory.at(arguments[0], arguments[1] * Long.BYTES), arguments[2]));
    }

    /// Arguments: frame, words, round, result; adds the words that differ to result 0, and 1 to result 1.
    static KernelSource check() {
        return new KernelSource("litmus_check", LitmusKernels::ptx, (memory, _, _, arguments) -> {
            final long wrong = wrongWords(memory.at(arguments[0], arguments[1] * Long.BYTES), arguments[2]);
            final MemorySegment result = memory.at(arguments[3], RESULT_BYTES);
            result.set(LONG, 0, result.get(LONG, 0) + wrong);
            result.set(LONG, Long.BYTES, result.get(LONG, Long.BYTES) + 1);
        });
    }

    /// Argument: nanoseconds that the stream is kept busy. An emulated device is late by itself.
    static KernelSource late() {
        return new KernelSource("litmus_late", LitmusKernels::ptx, (_, _, _, _) -> {});
    }

    static void write(final MemorySegment frame, final long round) {
        final long words = frame.byteSize() / Long.BYTES;
        for (long i = 0; i < words; i++) {
            frame.set(LONG, i * Long.BYTES, word(round, i));
        }
    }

    static long wrongWords(final MemorySegment frame, final long round) {
        final long words = frame.byteSize() / Long.BYTES;
        long wrong = 0;
        for (long i = 0; i < words; i++) {
            wrong += frame.get(LONG, i * Long.BYTES) == word(round, i) ? 0 : 1;
        }
        return wrong;
    }

    static byte[] ptx() {
        try (InputStream in = LitmusKernels.class.getResourceAsStream(PTX_RESOURCE)) {
            if (in == null) {
                throw new IllegalStateException("the jar lacks " + PTX_RESOURCE);
            }
            return in.readAllBytes();
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
