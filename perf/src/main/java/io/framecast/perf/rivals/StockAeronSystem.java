package io.framecast.perf.rivals;

import io.aeron.Aeron;
import io.aeron.ExclusivePublication;
import io.aeron.Publication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.aeron.driver.status.SystemCounterDescriptor;
import io.aeron.driver.status.SystemCounters;
import io.aeron.logbuffer.FragmentHandler;
import io.aeron.logbuffer.Header;
import io.aeron.protocol.DataHeaderFlyweight;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.PrivateDirectory;
import io.framecast.perf.harness.FrameContent;
import io.framecast.perf.harness.ProcessCost;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.StandardSocketOptions;
import java.nio.channels.DatagramChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.agrona.BitUtil;
import org.agrona.DirectBuffer;
import org.agrona.SystemUtil;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.UnsafeBuffer;

/// Aeron's own reliable multicast, tuned for frames: the largest datagrams that the MTU takes, a message per
/// datagram, windows and socket buffers as large as the system gives, quick repair, an embedded driver with
/// one thread. Each fragment is copied from the term buffer to its place in a contiguous frame.
public final class StockAeronSystem implements MeasuredSystem {
    private static final String NAME = "stock-aeron";
    private static final int STREAM = 1001;
    private static final int TERM_BYTES = 16 << 20;
    private static final int BUFFER_BYTES_WANTED = 64 << 20;
    private static final int IP_AND_UDP_BYTES = 28;
    private static final int MTU_ALIGNMENT = 32;
    private static final int AERON_MTU_MAX = 65_504;
    private static final int FRAGMENTS_MAX = 64;
    private static final long NAK_DELAY_MIN_NS = TimeUnit.MICROSECONDS.toNanos(200);
    private static final long NAK_DELAY_MAX_NS = TimeUnit.MILLISECONDS.toNanos(1);

    // Within one of this user alone: a driver deletes what it finds there, and what links there lead to.
    private static Path directory() {
        final Path sharedMemory = Path.of("/dev/shm");
        final Path parent = Files.isWritable(sharedMemory) ? sharedMemory : Path.of(SystemUtil.tmpDirName());
        return parent.resolve("framecast-bench-aeron-" + Libc.getuid());
    }

    /// Deletes what the driver of a process that was killed has left in shared memory.
    public static void deleteAbandoned(final long pid) {
        if (PrivateDirectory.is(directory())) {
            PrivateDirectory.delete(directory().resolve(Long.toString(pid)));
        }
    }

    private static MediaDriver launch(final StreamSpec spec) throws IOException {
        final Path directory = PrivateDirectory.require(directory())
                .resolve(Long.toString(ProcessHandle.current().pid()));
        return MediaDriver.launchEmbedded(new MediaDriver.Context()
                .aeronDirectoryName(directory.toString())
                .threadingMode(ThreadingMode.SHARED)
                .sharedIdleStrategy(new BackoffIdleStrategy(10, 20, 1_000, 500_000))
                .initialWindowLength(bufferBytes(spec))
                .socketRcvbufLength(bufferBytes(spec))
                .socketSndbufLength(bufferBytes(spec))
                .nakMulticastGroupSize(spec.load().receivers() + 1)
                .nakMulticastMaxBackoffNs(NAK_DELAY_MAX_NS)
                .nakUnicastDelayNs(NAK_DELAY_MIN_NS)
                .dirDeleteOnStart(true)
                .dirDeleteOnShutdown(true));
    }

    private static Aeron connect(final MediaDriver driver) {
        return Aeron.connect(new Aeron.Context().aeronDirectoryName(driver.aeronDirectoryName()));
    }

    private static String channel(final StreamSpec spec) throws IOException {
        return "aeron:udp?endpoint=" + spec.link().group() + ":" + spec.link().port() + "|interface="
                + spec.localAddress()
                + "|so-rcvbuf=" + bufferBytes(spec) + "|so-sndbuf=" + bufferBytes(spec);
    }

    /// As much as the system gives, for Aeron does not ask beyond its limits.
    private static int bufferBytes(final StreamSpec spec) throws IOException {
        if (spec.link().socketBufferBytes() != 0) {
            return spec.link().socketBufferBytes();
        }
        try (DatagramChannel probe = DatagramChannel.open()) {
            probe.setOption(StandardSocketOptions.SO_RCVBUF, BUFFER_BYTES_WANTED);
            probe.setOption(StandardSocketOptions.SO_SNDBUF, BUFFER_BYTES_WANTED);
            return Math.min(
                    probe.getOption(StandardSocketOptions.SO_RCVBUF), probe.getOption(StandardSocketOptions.SO_SNDBUF));
        }
    }

    /// Aeron counts its MTU in UDP payload and wants a multiple of 32.
    static int aeronMtu(final int ipMtuBytes) {
        final int bytes = Math.min(ipMtuBytes - IP_AND_UDP_BYTES, AERON_MTU_MAX);
        return bytes - bytes % MTU_ALIGNMENT;
    }

    @Override
    public SourceReport publish(final StreamSpec spec, final Runnable gone) throws IOException {
        final IdleStrategy idle = MeasuredSystem.idle();
        // Connected only when all its receivers are; the slowest of them sets the pace.
        final String channel = channel(spec) + "|fc=min,g:/" + spec.load().receivers() + "|mtu="
                + aeronMtu(spec.link().mtuBytes()) + "|term-length=" + termBytes(spec);
        try (Arena arena = Arena.ofConfined();
                MediaDriver driver = launch(spec);
                Aeron aeron = connect(driver);
                ExclusivePublication publication = aeron.addExclusivePublication(channel, STREAM)) {
            while (!publication.isConnected()) {
                idle.idle();
            }
            final MemorySegment frame = arena.allocate(spec.load().frameBytes(), Long.BYTES);
            FrameContent.fill(frame);
            final UnsafeBuffer buffer = new UnsafeBuffer(frame.asByteBuffer());
            final DriverTraffic traffic = new DriverTraffic(driver, spec);
            final FrameSource source = new FrameSource(spec, traffic.cost);
            while (source.next()) {
                FrameContent.stampEnds(frame, source.stamp());
                offer(publication, buffer, idle);
            }
            // The frames that were offered have been sent when the receivers have them; the processor's time
            // until then counts too.
            gone.run();
            return source.report(NAME, traffic.sent());
        }
    }

    /// The traffic of an embedded driver, from its counters.
    private static final class DriverTraffic {
        private final SystemCounters counters;
        private final int datagramBytes;
        private final ProcessCost cost;
        private long bytesBefore;

        DriverTraffic(final MediaDriver driver, final StreamSpec spec) {
            counters = driver.context().systemCounters();
            datagramBytes = aeronMtu(spec.link().mtuBytes());
            cost = new ProcessCost(spec.link().device(), () -> bytesBefore = bytes());
        }

        private long bytes() {
            return counters.get(SystemCounterDescriptor.BYTES_SENT).get()
                    + counters.get(SystemCounterDescriptor.RETRANSMITTED_BYTES).get();
        }

        // It counts no datagrams; those of a busy stream are full. No interface batches them.
        FrameSource.Traffic sent() {
            final long bytes = bytes() - bytesBefore;
            return FrameSource.Traffic.ofDatagrams(Math.ceilDiv(bytes, datagramBytes), bytes);
        }
    }

    private static int termBytes(final StreamSpec spec) throws IOException {
        return Math.max(TERM_BYTES, BitUtil.findNextPositivePowerOfTwo(2 * bufferBytes(spec)));
    }

    private static void offer(
            final ExclusivePublication publication, final DirectBuffer frame, final IdleStrategy idle) {
        final int payloadMax = publication.maxPayloadLength();
        int offset = 0;
        while (offset < frame.capacity()) {
            final int length = Math.min(payloadMax, frame.capacity() - offset);
            final long code = publication.offer(frame, offset, length);
            if (code > 0) {
                offset += length;
                idle.reset();
            } else if (code == Publication.BACK_PRESSURED || code == Publication.ADMIN_ACTION) {
                idle.idle();
            } else {
                throw new IllegalStateException("the subscriber is gone: " + Publication.errorString(code));
            }
        }
    }

    @Override
    public ReceiverReport subscribe(final StreamSpec spec) throws IOException {
        final IdleStrategy idle = MeasuredSystem.idle();
        try (Arena arena = Arena.ofConfined();
                MediaDriver driver = launch(spec);
                Aeron aeron = connect(driver);
                Subscription subscription =
                        aeron.addSubscription(channel(spec) + "|rcv-wnd=" + bufferBytes(spec), STREAM)) {
            final Assembly assembly = new Assembly(spec, arena);
            boolean connected = false;
            while (!assembly.meter.hasLast()) {
                idle.idle(subscription.poll(assembly, FRAGMENTS_MAX));
                if (connected && !subscription.isConnected()) {
                    throw new IllegalStateException("the publisher is gone");
                }
                connected |= subscription.isConnected();
            }
            return assembly.meter.report();
        }
    }

    /// Puts fragments, which arrive in order and complete, in their places.
    private static final class Assembly implements FragmentHandler {
        private final GoodputMeter meter;
        private final MemorySegment frame;
        private final UnsafeBuffer buffer;
        private int filled;

        Assembly(final StreamSpec spec, final Arena arena) {
            meter = new GoodputMeter(spec);
            frame = arena.allocate(spec.load().frameBytes(), DataHeaderFlyweight.HEADER_LENGTH);
            buffer = new UnsafeBuffer(frame.asByteBuffer());
        }

        @Override
        public void onFragment(final DirectBuffer term, final int offset, final int length, final Header header) {
            buffer.putBytes(filled, term, offset, length);
            filled += length;
            if (filled == buffer.capacity()) {
                filled = 0;
                meter.onFrame(frame);
            }
        }
    }
}
