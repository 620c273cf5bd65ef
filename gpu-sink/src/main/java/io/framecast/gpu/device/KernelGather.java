package io.framecast.gpu.device;

import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceGather;
import io.framecast.api.spi.DeviceKernel;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.api.spi.KernelSource;
import java.util.Arrays;
import java.util.function.BooleanSupplier;

/// Pieces by the kernel of `gather.cu`, up to ten for a launch, all in its parameters: no list that would have
/// to stay until it is read. Few pieces go by copies; and all do while a persistent kernel runs, which may
/// leave no room on the device for another, where copy engines go on.
public final class KernelGather implements DeviceGather {
    /// Of one launch.
    public static final int PIECES_MAX = 10;

    static final String PTX_RESOURCE = "/io/framecast/gpu/gather/gather.ptx";
    private static final int WORDS = 3;
    private static final int PARTS = 8;
    private static final int THREADS = 256;
    // The probe copies runs of a frame of some MB that lost a hundredth of its datagrams.
    private static final int PROBE_BYTES = 64 << 10;
    private static final int PROBE_TRIES = 7;

    private final DeviceStream stream;
    private final DeviceKernel kernel;
    private final BooleanSupplier isCrowded;
    private final int piecesMin;
    private final long[] arguments = new long[PIECES_MAX * WORDS];
    private int count;
    private long launches;

    private KernelGather(
            final DeviceStream stream,
            final DeviceKernel kernel,
            final BooleanSupplier isCrowded,
            final int piecesMin) {
        this.stream = stream;
        this.kernel = kernel;
        this.isCrowded = isCrowded;
        this.piecesMin = piecesMin;
    }

    /// A gather whose kernel takes that many pieces and more.
    ///
    /// @param isCrowded whether a persistent kernel runs
    /// @param piecesMin 1 … PIECES_MAX; more for never
    /// @throws DeviceException when the kernel cannot be loaded
    public static KernelGather of(
            final DeviceBackend device,
            final DeviceStream stream,
            final BooleanSupplier isCrowded,
            final int piecesMin) {
        return new KernelGather(stream, device.load(kernel()), isCrowded, piecesMin);
    }

    /// The same from as many pieces on as are sooner done by the kernel, as measured here and now. Plain copies
    /// where a kernel cannot be had: an old driver, no memory, a persistent kernel behind which loading would
    /// wait.
    public static DeviceGather measured(
            final DeviceBackend device, final DeviceStream stream, final BooleanSupplier isCrowded) {
        if (isCrowded.getAsBoolean()) {
            return DeviceGather.byCopies(stream);
        }
        try {
            final DeviceKernel kernel = device.load(kernel());
            return new KernelGather(stream, kernel, isCrowded, piecesMin(device, stream, kernel));
        } catch (final DeviceException _) {
            return DeviceGather.byCopies(stream);
        }
    }

    private static int piecesMin(final DeviceBackend device, final DeviceStream stream, final DeviceKernel kernel) {
        final DeviceRegion region = device.allocate(2L * PIECES_MAX * PROBE_BYTES);
        try (DeviceEvent done = device.openEvent()) {
            for (int pieces = 2; pieces <= PIECES_MAX; pieces++) {
                final KernelGather launched = new KernelGather(stream, kernel, () -> false, 1);
                final KernelGather copied = new KernelGather(stream, kernel, () -> false, PIECES_MAX + 1);
                if (fastestNs(launched, region, pieces, done) <= fastestNs(copied, region, pieces, done)) {
                    return pieces;
                }
            }
            return PIECES_MAX + 1;
        } finally {
            device.free(region);
        }
    }

    private static long fastestNs(
            final KernelGather gather, final DeviceRegion region, final int pieces, final DeviceEvent done) {
        long fastest = Long.MAX_VALUE;
        for (int i = 0; i < PROBE_TRIES; i++) {
            final long startNs = System.nanoTime();
            for (int piece = 0; piece < pieces; piece++) {
                final long source = region.address() + 2L * piece * PROBE_BYTES;
                gather.add(source + PROBE_BYTES, source, PROBE_BYTES);
            }
            gather.flush();
            gather.stream.record(done);
            done.synchronize();
            fastest = Math.min(fastest, System.nanoTime() - startNs);
        }
        return fastest;
    }

    @Override
    public void add(final long targetAddress, final long sourceAddress, final long bytes) {
        final int at = count * WORDS;
        arguments[at] = targetAddress;
        arguments[at + 1] = sourceAddress;
        arguments[at + 2] = bytes;
        count++;
        if (count == PIECES_MAX) {
            flush();
        }
    }

    @Override
    public void flush() {
        if (count >= piecesMin && !isCrowded.getAsBoolean()) {
            Arrays.fill(arguments, count * WORDS, arguments.length, 0);
            stream.launch(kernel, count * PARTS, THREADS, arguments);
            launches++;
        } else {
            for (int at = 0; at < count * WORDS; at += WORDS) {
                stream.copyWithin(arguments[at], arguments[at + 1], arguments[at + 2]);
            }
        }
        count = 0;
    }

    /// Launches so far.
    public long launches() {
        return launches;
    }

    private static KernelSource kernel() {
        return new KernelSource(
                "framecast_gather",
                KernelSource.resource(KernelGather.class, PTX_RESOURCE),
                (memory, _, _, arguments) -> {
                    for (int at = 0; at < arguments.length; at += WORDS) {
                        final long bytes = arguments[at + 2];
                        if (bytes > 0) {
                            memory.at(arguments[at], bytes).copyFrom(memory.at(arguments[at + 1], bytes));
                        }
                    }
                });
    }
}
