package io.framecast.perf.jmh;

import io.framecast.reliability.window.SendWindow;
import io.framecast.reliability.window.WindowMemory;
import io.framecast.reliability.wire.DataLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/// The work of a source for each frame before anything is sent: write and seal the headers of its datagrams.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
        value = 1,
        jvmArgsAppend = {"--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED", "--enable-native-access=ALL-UNNAMED"})
public class FrameCommitBenchmark {
    private static final int SLOT_BYTES = 1432;
    private static final long SESSION = 0x1234_5678_9abc_def0L;
    private static final byte[] NO_METADATA = new byte[0];

    /// Payload of a frame.
    @Param({"64", "1048576", "6220800"})
    private int frameBytes;

    private final Arena arena = Arena.ofConfined();
    private int datagrams;
    private SendWindow window = window(2);
    private long freed;

    private SendWindow window(final int slots) {
        final MemorySegment headers = arena.allocate((long) slots * DataLayout.LENGTH, Long.BYTES);
        final WindowMemory memory = new WindowMemory(headers, MemorySegment.NULL, new int[slots], slots, SLOT_BYTES);
        return new SendWindow(memory, SESSION);
    }

    /// Takes a window of two frames, as a publisher does.
    @Setup
    public void openWindow() {
        datagrams = Math.ceilDiv(frameBytes, SLOT_BYTES);
        window = window(Integer.highestOneBit(2 * datagrams) * 2);
    }

    @TearDown
    public void close() {
        arena.close();
    }

    /// One frame, which is acknowledged at once.
    @Benchmark
    public long commit() {
        window.beginFrame(frameBytes, 0, 0, NO_METADATA);
        window.commit(frameBytes, datagrams);
        freed += datagrams;
        window.free(freed);
        return window.committed();
    }
}
