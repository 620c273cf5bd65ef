package io.framecast.perf.jmh;

import io.framecast.reliability.window.ReceiveWindow;
import io.framecast.reliability.window.SendWindow;
import io.framecast.reliability.window.WindowMemory;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.HeaderChecksum;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/// The work of a receiver for each datagram in order: is its header sealed, which sequence is it, mark it received.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
        value = 1,
        jvmArgsAppend = {"--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED", "--enable-native-access=ALL-UNNAMED"})
public class DatagramBenchmark {
    private static final int SLOTS = 1024;
    private static final int BATCH = 512;
    private static final int SLOT_BYTES = 1432;
    private static final long SESSION = 0x1234_5678_9abc_def0L;

    private final Arena arena = Arena.ofConfined();
    private final HeaderChecksum checksum = new HeaderChecksum();
    private final ReceiveWindow window = new ReceiveWindow(SLOTS);
    private final MemorySegment headers = arena.allocate((long) SLOTS * DataLayout.LENGTH, Long.BYTES);

    /// Writes the headers of one long frame.
    @Setup
    public void writeHeaders() {
        final WindowMemory memory = new WindowMemory(headers, MemorySegment.NULL, new int[SLOTS], SLOTS, SLOT_BYTES);
        final SendWindow source = new SendWindow(memory, SESSION);
        source.beginFrame((long) BATCH * SLOT_BYTES, 0, 0, new byte[0]);
        source.commit((long) BATCH * SLOT_BYTES, BATCH);
    }

    @TearDown
    public void close() {
        arena.close();
    }

    /// Header checksum and fields alone.
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public long header() {
        long sum = 0;
        for (int i = 0; i < BATCH; i++) {
            final long offset = (long) i * DataLayout.LENGTH;
            if (!checksum.isSealed(headers, offset, SESSION)) {
                throw new IllegalStateException("datagram " + i);
            }
            sum += DataLayout.SEQUENCE.get(headers, offset) + DataLayout.FRAME_BYTES.unsigned(headers, offset);
        }
        return sum;
    }

    /// With the window.
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public long headerAndWindow() {
        window.reset(0);
        for (int i = 0; i < BATCH; i++) {
            final long offset = (long) i * DataLayout.LENGTH;
            if (!checksum.isSealed(headers, offset, SESSION)) {
                throw new IllegalStateException("datagram " + i);
            }
            final long sequence = DataLayout.SEQUENCE.get(headers, offset);
            if (!window.isReceived(sequence)) {
                window.receive(sequence);
            }
        }
        return window.next();
    }
}
