package io.framecast.gpu.arrival;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The device functions of `framecast.cuh`, compiled for the host, against the Java side: the logic that
/// kernels run, on x86's memory order. What a GPU's memory order does to it only a GPU can show.
class CompiledHeaderTest {
    private static final int ROUNDS = 10_000;
    private static final int PLANTED_ROUNDS = 4_000;

    @TempDir
    static Path directory;

    private static HeaderLibrary library;
    private static MethodHandle consume;
    private static MethodHandle take;

    @BeforeAll
    static void build() throws IOException, InterruptedException {
        library = HeaderLibrary.build(directory);
        consume = library.procedure("consume", JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG);
        take = library.function("take", JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT);
    }

    @AfterAll
    static void close() {
        if (library != null) {
            library.close();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void shouldSeeEveryWordInEveryBlock(final int blocks) throws InterruptedException {
        final long[] out = run(Litmus.Plant.NONE, ROUNDS, blocks);
        for (int i = 0; i < blocks; i++) {
            assertEquals(ROUNDS, out[2 * i], "frames of block " + i);
            assertEquals(0, out[2 * i + 1], "violations in block " + i);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Litmus.Plant.class,
            names = {"ENTRY_BEFORE_BYTES", "RETURN_BEFORE_READ"})
    void shouldCatchPlantedMistakes(final Litmus.Plant plant) throws InterruptedException {
        assertTrue(run(plant, PLANTED_ROUNDS, 1)[1] > 0, plant + " was not caught");
    }

    private static long[] run(final Litmus.Plant plant, final int rounds, final int blocks)
            throws InterruptedException {
        try (PlainMemory memory = Litmus.memory();
                Arena arena = Arena.ofShared()) {
            final MemorySegment state = arena.allocate(ArrivalLayout.stateBytes(Litmus.ENTRIES, blocks), 16);
            final MemorySegment out = arena.allocate(JAVA_LONG, 2L * blocks);
            final ArrivalRing ring = memory.ringAt(Litmus.ENTRIES, -rounds / 2);
            ring.resume(blocks, state.address());
            final long area = memory.area().address();
            final int early = plant == Litmus.Plant.RETURN_BEFORE_READ ? 1 : 0;
            final Thread[] threads = new Thread[blocks];
            for (int i = 0; i < blocks; i++) {
                final int block = i;
                threads[i] = Thread.ofPlatform().start(() -> consume(area, block, early, out.address() + 16L * block));
            }
            new Litmus(memory, ring, plant, 11).run(rounds);
            for (final Thread thread : threads) {
                thread.join();
            }
            return out.toArray(JAVA_LONG);
        }
    }

    private static void consume(final long area, final int block, final int early, final long out) {
        try {
            consume.invokeExact(area, (long) Litmus.WORDS, block, early, out);
        } catch (final Throwable e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldMatchAndResumeAsTheJavaSideDoes() throws Throwable {
        final int entries = 64;
        try (PlainMemory memory = new PlainMemory(entries, 64);
                Arena arena = Arena.ofShared()) {
            final MemorySegment state = arena.allocate(ArrivalLayout.stateBytes(entries, 1), 16);
            final ArrivalRing ring = memory.ringAt(entries, -40);
            ring.resume(1, state.address());
            final ArrivalRecord record = new ArrivalRecord();
            for (int i = 0; i < entries; i++) {
                record.event(i % 5 == 4 ? ArrivalLayout.KIND_LOSS : ArrivalLayout.KIND_FRAME, i % 3);
                record.source = i % 4;
                record.tag = i % 7;
                record.frameId = i;
                ring.offer(record);
            }
            final long area = memory.area().address();
            final EmulatedArrivals java = EmulatedArrivals.open(memory, area);
            final ArrivalMatch[] matches = {
                new ArrivalMatch(2, ArrivalLayout.ANY_SOURCE, ArrivalLayout.ANY_TAG, -1),
                new ArrivalMatch(ArrivalLayout.ANY_CHANNEL, 3, ArrivalLayout.ANY_TAG, -1),
                new ArrivalMatch(ArrivalLayout.ANY_CHANNEL, ArrivalLayout.ANY_SOURCE, 6, 1 << ArrivalLayout.KIND_LOSS),
                ArrivalMatch.framesOf(1, 2, ArrivalLayout.ANY_TAG),
                ArrivalMatch.ANY
            };
            final ArrivalRecord seen = new ArrivalRecord();
            for (final ArrivalMatch match : matches) {
                boolean more = true;
                while (more) {
                    more = java.test(match, seen);
                    assertEquals(more ? seen.frameId : -1, take(area, match, 0), match.toString());
                }
            }
            // Nothing was returned; now every third is, and a new kernel gets the rest.
            for (int i = 0; i < entries; i += 3) {
                seen.slot = -40 + i & entries - 1;
                seen.sequence = -40 + i + 1;
                java.release(seen);
            }
            ring.collect(_ -> {});
            state.fill((byte) 0);
            ring.resume(1, state.address());
            for (int i = 0; i < entries; i++) {
                if (i % 3 != 0) {
                    assertEquals(i, take(area, ArrivalMatch.ANY, 1));
                }
            }
            assertEquals(-1, take(area, ArrivalMatch.ANY, 1));
            ring.collect(_ -> {});
            assertEquals(entries, ring.room());
        }
    }

    /// A kernel of another version than its host's ends, and touches nothing.
    @Test
    void shouldEndAtOnceWhereTheHostIsOfAnotherVersion() throws Throwable {
        try (PlainMemory memory = Litmus.memory();
                Arena arena = Arena.ofShared()) {
            final MemorySegment out = arena.allocate(JAVA_LONG, 2);
            out.fill((byte) -1);
            final ArrivalRing ring = memory.ringAt(Litmus.ENTRIES, 0);
            ring.resume(1, arena.allocate(64, 16).address());
            final ArrivalRecord record = new ArrivalRecord();
            record.event(ArrivalLayout.KIND_LOSS, 0);
            ring.offer(record);
            memory.area().set(ValueLayout.JAVA_INT, ArrivalLayout.VERSION_OFFSET, ArrivalLayout.VERSION - 1);
            assertEquals(-1, take(memory.area().address(), ArrivalMatch.ANY, 0));
            consume(memory.area().address(), 0, 0, out.address());
            assertEquals(0, out.get(JAVA_LONG, 0));
        }
    }

    private static long take(final long area, final ArrivalMatch match, final int releases) throws Throwable {
        return (long) take.invokeExact(area, match.channel(), match.source(), match.tag(), match.kinds(), releases);
    }
}
