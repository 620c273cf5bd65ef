package io.framecast.perf.alltoall;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.perf.harness.Connections;
import io.framecast.perf.harness.FrameContent;
import io.framecast.perf.harness.FrameContent.Stamp;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/// A ring's all-gather over TCP: each process sends its frame to the next one, then passes on what comes from the one
/// before, chunk by chunk, until every frame has been everywhere. With one source it is a broadcast by the ring.
final class RingGather implements Gather {
    private static final int CHUNKS_BUFFERED = 2;
    private static final long NAP_NS = 20_000;
    private static final MemorySegment END = MemorySegment.NULL;

    private final AllToAllSpec spec;
    private final DeviceBackend device;
    private final DeviceStream stream;
    private final DeviceRegion region;
    private final FrameCheck check;
    private final SocketChannel before;
    private final SocketChannel behind;
    // By origin.
    private final List<MemorySegment> frames = new ArrayList<>();
    private final BlockingQueue<MemorySegment> toSend = new LinkedBlockingQueue<>();
    // Chunks that are not with the kernel yet.
    private final AtomicInteger pending = new AtomicInteger();
    private final Thread sender;
    private long number;

    RingGather(final AllToAllSpec spec) throws IOException {
        this.spec = spec;
        final int buffered = CHUNKS_BUFFERED * spec.plan().chunkBytes();
        final int next = (spec.index() + 1) % spec.processes();
        final int previous = (spec.index() + spec.processes() - 1) % spec.processes();
        try (ServerSocketChannel server = Connections.listen(spec.address(spec.index()), spec.ringPort(spec.index()))) {
            behind = Connections.connect(spec.address(next), spec.ringPort(next), spec.index(), 0);
            behind.setOption(StandardSocketOptions.SO_SNDBUF, buffered);
            before = Connections.accept(server, List.of(previous)).getFirst();
            before.setOption(StandardSocketOptions.SO_RCVBUF, buffered);
        }
        device = spec.plan().deviceOfSource().open();
        stream = device.openStream();
        region = device.allocate(spec.plan().frameBytes());
        check = new FrameCheck(device, spec.plan().frameBytes(), spec.processes());
        for (int i = 0; i < spec.processes(); i++) {
            frames.add(device.allocatePinned(spec.plan().frameBytes()));
        }
        FrameContent.fill(frames.get(spec.index()));
        sender = Thread.ofPlatform().daemon().name("ring-sender").start(this::send);
    }

    private void send() {
        try {
            for (MemorySegment part = toSend.take(); part != END; part = toSend.take()) {
                Connections.writeFully(behind, part.asByteBuffer());
                pending.decrementAndGet();
            }
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void exchange(final int count) throws IOException {
        for (int i = 0; i < count; i++) {
            gather();
        }
    }

    private void gather() throws IOException {
        // Its buffers are written again.
        while (pending.get() > 0) {
            LockSupport.parkNanos(NAP_NS);
        }
        if (spec.isSource()) {
            final MemorySegment own = frames.get(spec.index());
            FrameContent.stamp(own, new Stamp(number, System.nanoTime(), 0));
            for (long at = 0; at < spec.plan().frameBytes(); at += spec.plan().chunkBytes()) {
                pass(chunk(own, at));
            }
        }
        number++;
        for (int step = 1; step < spec.processes(); step++) {
            final int origin = (spec.index() + spec.processes() - step) % spec.processes();
            if (origin < spec.sources()) {
                take(origin, step + 1 < spec.processes());
            }
        }
    }

    private void take(final int origin, final boolean passesOn) throws IOException {
        final MemorySegment frame = frames.get(origin);
        for (long at = 0; at < spec.plan().frameBytes(); at += spec.plan().chunkBytes()) {
            final MemorySegment part = chunk(frame, at);
            Connections.readFully(before, part.asByteBuffer());
            if (passesOn) {
                pass(part);
            }
            if (!device.hostAddressable()) {
                stream.copyToDevice(region.address() + at, frame, at, part.byteSize());
            }
        }
        stream.synchronize();
        check.onFrame(origin, DeviceRegion.ofHost(frame.asSlice(0, spec.plan().frameBytes())));
    }

    private void pass(final MemorySegment part) {
        pending.incrementAndGet();
        toSend.add(part);
    }

    private MemorySegment chunk(final MemorySegment frame, final long at) {
        return frame.asSlice(at, Math.min(spec.plan().chunkBytes(), spec.plan().frameBytes() - at));
    }

    @Override
    public void end() throws IOException {
        toSend.add(END);
        try {
            sender.join();
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    @Override
    public void close() throws IOException {
        sender.interrupt();
        Connections.closeAll(List.of(before, behind));
        check.close();
        stream.close();
        frames.forEach(device::freePinned);
        device.free(region);
        device.close();
    }
}
