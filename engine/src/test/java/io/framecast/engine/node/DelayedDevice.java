package io.framecast.engine.node;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceBackendProvider;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceKernel;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.api.spi.KernelSource;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/// A device whose addresses mean nothing to the host and whose work is late: a command runs only after its
/// stream was asked for its progress [#LAG] times since the command reached the head, or when somebody waits
/// for it. Who reads memory before its event, or reuses memory under a copy, gets wrong bytes.
final class DelayedDevice implements DeviceBackend, DeviceBackendProvider {
    private static final int LAG = 40;
    private static final long FIRST_ADDRESS = 0x7000_0000_0000L;

    private final TreeMap<Long, MemorySegment> memory = new TreeMap<>();
    private final Map<Long, Arena> arenas = new TreeMap<>();
    private final List<Stream> streams = new ArrayList<>();
    private long nextAddress = FIRST_ADDRESS;
    private long allocated;
    private long pinned;
    private boolean closed;

    @Override
    public String kind() {
        return "emulated";
    }

    @Override
    public Optional<String> unavailable() {
        return Optional.empty();
    }

    @Override
    public int rank() {
        return 1;
    }

    @Override
    public int deviceCount() {
        return 1;
    }

    @Override
    public DeviceBackend open(final int ordinal) {
        return this;
    }

    @Override
    public String name() {
        return "delayed:0";
    }

    @Override
    public String description() {
        return "late copies, for tests";
    }

    @Override
    public boolean hostAddressable() {
        return false;
    }

    @Override
    public synchronized DeviceRegion allocate(final long bytes) {
        final Arena arena = Arena.ofShared();
        final long address = nextAddress;
        nextAddress += (bytes + 4095) / 4096 * 4096 + 4096;
        memory.put(address, arena.allocate(bytes, 64));
        arenas.put(address, arena);
        allocated += bytes;
        return DeviceRegion.ofDevice(address, bytes);
    }

    @Override
    public synchronized void free(final DeviceRegion region) {
        allocated -= memory.remove(region.address()).byteSize();
        arenas.remove(region.address()).close();
    }

    @Override
    public synchronized MemorySegment allocatePinned(final long bytes) {
        final Arena arena = Arena.ofShared();
        final MemorySegment segment = arena.allocate(bytes, 64);
        arenas.put(segment.address(), arena);
        pinned += bytes;
        return segment;
    }

    @Override
    public synchronized void freePinned(final MemorySegment segment) {
        pinned -= segment.byteSize();
        arenas.remove(segment.address()).close();
    }

    @Override
    public void registerHost(final MemorySegment segment) {
        // Copies run from any host memory here.
    }

    @Override
    public void unregisterHost(final MemorySegment segment) {
        // As above.
    }

    @Override
    public synchronized DeviceStream openStream() {
        if (closed) {
            throw new IllegalStateException("delayed: closed");
        }
        final Stream stream = new Stream();
        streams.add(stream);
        return stream;
    }

    @Override
    public DeviceEvent openEvent() {
        return new Event();
    }

    @Override
    public DeviceKernel load(final KernelSource source) {
        throw new UnsupportedOperationException("delayed: no kernels");
    }

    @Override
    public synchronized long allocatedBytes() {
        return allocated;
    }

    synchronized long pinnedBytes() {
        return pinned;
    }

    @Override
    public synchronized void close() {
        closed = true;
        streams.forEach(Stream::synchronize);
        arenas.values().forEach(Arena::close);
        arenas.clear();
        memory.clear();
        allocated = 0;
        pinned = 0;
    }

    private MemorySegment at(final long address, final long bytes) {
        final Map.Entry<Long, MemorySegment> entry = memory.floorEntry(address);
        if (entry == null) {
            throw new IllegalStateException("delayed: no memory at " + Long.toHexString(address));
        }
        return entry.getValue().asSlice(address - entry.getKey(), bytes);
    }

    private synchronized void tick() {
        streams.forEach(Stream::tick);
    }

    private final class Event implements DeviceEvent {
        private long recorded;
        private long done;

        @Override
        public boolean isComplete() {
            tick();
            synchronized (DelayedDevice.this) {
                return done == recorded;
            }
        }

        @Override
        public void synchronize() {
            while (!isComplete()) {
                Thread.onSpinWait();
            }
        }

        @Override
        public void close() {
            // Holds nothing.
        }
    }

    /// A command: whether it could run.
    private interface Command {
        boolean run();
    }

    private final class Stream implements DeviceStream {
        private final Deque<Command> commands = new ArrayDeque<>();
        private int asked;

        private void add(final Runnable work) {
            synchronized (DelayedDevice.this) {
                commands.add(() -> {
                    work.run();
                    return true;
                });
            }
        }

        private void tick() {
            if (++asked >= LAG && !commands.isEmpty() && commands.peek().run()) {
                commands.remove();
                asked = 0;
            }
        }

        @Override
        public void copyToDevice(
                final long deviceAddress, final MemorySegment source, final long sourceOffset, final long bytes) {
            add(() -> MemorySegment.copy(source, sourceOffset, at(deviceAddress, bytes), 0, bytes));
        }

        @Override
        public void copyToHost(
                final MemorySegment target, final long targetOffset, final long deviceAddress, final long bytes) {
            add(() -> MemorySegment.copy(at(deviceAddress, bytes), 0, target, targetOffset, bytes));
        }

        @Override
        public void copyWithin(final long targetAddress, final long sourceAddress, final long bytes) {
            add(() -> at(targetAddress, bytes).copyFrom(at(sourceAddress, bytes)));
        }

        @Override
        public void fill(final long deviceAddress, final byte value, final long bytes) {
            add(() -> at(deviceAddress, bytes).fill(value));
        }

        @Override
        public void record(final DeviceEvent event) {
            final Event own = (Event) event;
            synchronized (DelayedDevice.this) {
                final long mark = ++own.recorded;
                add(() -> own.done = mark);
            }
        }

        @Override
        public void await(final DeviceEvent event) {
            final Event own = (Event) event;
            synchronized (DelayedDevice.this) {
                final long mark = own.recorded;
                commands.add(() -> own.done >= mark);
            }
        }

        @Override
        public void launch(
                final DeviceKernel kernel, final int gridBlocks, final int blockThreads, final long... arguments) {
            throw new UnsupportedOperationException("delayed: no kernels");
        }

        @Override
        public void synchronize() {
            while (true) {
                synchronized (DelayedDevice.this) {
                    if (commands.isEmpty()) {
                        return;
                    }
                    DelayedDevice.this.tick();
                }
            }
        }

        @Override
        public void close() {
            synchronize();
            synchronized (DelayedDevice.this) {
                streams.remove(this);
            }
        }
    }
}
