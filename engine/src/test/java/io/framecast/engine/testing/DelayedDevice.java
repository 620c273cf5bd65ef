package io.framecast.engine.testing;

import io.framecast.api.error.DeviceException;
import io.framecast.api.provider.DeviceBackendProvider;
import io.framecast.api.spi.DeviceAccess;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceGather;
import io.framecast.api.spi.DeviceKernel;
import io.framecast.api.spi.DeviceMapping;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceResources;
import io.framecast.api.spi.DeviceResources.Kind;
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
import java.util.concurrent.atomic.AtomicBoolean;

/// A device whose addresses mean nothing to the host and whose work is late. A command runs only after [#LAG]
/// progress queries of its stream since the command reached the head, or when a thread waits for it. A reader
/// that does not wait for the event, or a writer that reuses memory under a copy, gets wrong bytes.
public final class DelayedDevice implements DeviceBackend, DeviceBackendProvider {
    private static final int LAG = 40;
    private static final long FIRST_ADDRESS = 0x7000_0000_0000L;

    private final TreeMap<Long, MemorySegment> memory = new TreeMap<>();
    private final Map<Long, Arena> arenas = new TreeMap<>();
    private final List<Stream> streams = new ArrayList<>();
    private long nextAddress = FIRST_ADDRESS;
    private long allocated;
    private final DeviceResources resources = new DeviceResources();
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
        onOpen.run();
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
        give(Kind.REGIONS, 1);
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
        resources.give(Kind.REGIONS, 1);
    }

    @Override
    public synchronized MemorySegment allocatePinned(final long bytes) {
        give(Kind.PINNED_BYTES, bytes);
        final Arena arena = Arena.ofShared();
        final MemorySegment segment = arena.allocate(bytes, 64);
        arenas.put(segment.address(), arena);
        return segment;
    }

    @Override
    public synchronized void freePinned(final MemorySegment segment) {
        resources.give(Kind.PINNED_BYTES, segment.byteSize());
        arenas.remove(segment.address()).close();
    }

    @Override
    public void registerHost(final MemorySegment segment) {
        // Copies run from any host memory here.
        give(Kind.REGISTRATIONS, 1);
    }

    @Override
    public void unregisterHost(final MemorySegment segment) {
        resources.give(Kind.REGISTRATIONS, 1);
    }

    /// Pieces of gathered copies.
    public int gathered;

    /// Copies from the host.
    public int uploads;

    /// Bytes that NICs had written without a flush when an upload was enqueued.
    public int unflushedAtUploads;

    @Override
    public DeviceGather openGather(final DeviceStream stream) {
        final List<Runnable> waiting = new ArrayList<>();
        return new DeviceGather() {
            @Override
            public void add(final long targetAddress, final long sourceAddress, final long bytes) {
                waiting.add(() -> at(targetAddress, bytes).copyFrom(at(sourceAddress, bytes)));
            }

            @Override
            public void flush() {
                gathered += waiting.size() > 1 ? waiting.size() : 0;
                final List<Runnable> all = List.copyOf(waiting);
                ((Stream) stream).add(() -> all.forEach(Runnable::run));
                waiting.clear();
            }
        };
    }

    @Override
    public synchronized DeviceStream openStream() {
        if (closed) {
            throw new IllegalStateException("delayed: closed");
        }
        give(Kind.STREAMS, 1);
        final Stream stream = new Stream();
        streams.add(stream);
        return stream;
    }

    @Override
    public DeviceEvent openEvent() {
        give(Kind.EVENTS, 1);
        return new Event();
    }

    @Override
    public DeviceKernel load(final KernelSource source) {
        throw new UnsupportedOperationException("delayed: no kernels");
    }

    /// Whether a channel without a placement option may use a mapping, or an export.
    public boolean offersAccess;

    /// The failure of a mapping, though no capability speaks against it before; empty for none.
    public String mapFailure = "";

    /// Runs while the device is being opened.
    public Runnable onOpen = () -> {};

    /// The failure of every call from now on; empty for none.
    public String failure = "";

    /// Whether a flush has an effect.
    public boolean flushes = true;

    /// The device refuses this request and all that follow it.
    public int refusesFrom = Integer.MAX_VALUE;

    /// The resources that were not freed when the device was closed.
    public String leftAtClose = "";

    /// Requests so far.
    public int asked;

    private final Deque<Runnable> remoteWrites = new ArrayDeque<>();

    /// A NIC's write becomes visible with a flush; a little of it before.
    public synchronized void writeRemotely(
            final long address, final MemorySegment source, final long offset, final long bytes) {
        final MemorySegment kept = MemorySegment.ofArray(new byte[(int) bytes]);
        MemorySegment.copy(source, offset, kept, 0, bytes);
        remoteWrites.add(() -> MemorySegment.copy(kept, 0, at(address, bytes), 0, bytes));
        if (remoteWrites.size() > 500) {
            remoteWrites.remove().run();
        }
    }

    @Override
    public DeviceAccess access() {
        return new DeviceAccess() {
            @Override
            public Optional<String> exportRefusal() {
                return offersAccess ? Optional.empty() : Optional.of("not offered");
            }

            @Override
            public Optional<String> mappingRefusal() {
                return mapFailure.isEmpty() ? exportRefusal() : Optional.empty();
            }

            @Override
            public DeviceRegion export(final DeviceRegion region) {
                give(Kind.EXPORTS, 1);
                return region;
            }

            @Override
            public void unexport(final DeviceRegion region) {
                resources.give(Kind.EXPORTS, 1);
            }

            @Override
            public void flushRemoteWrites() {
                synchronized (DelayedDevice.this) {
                    while (flushes && !remoteWrites.isEmpty()) {
                        remoteWrites.remove().run();
                    }
                }
            }

            @Override
            public DeviceMapping map(final DeviceRegion region) {
                if (!mapFailure.isEmpty()) {
                    throw new DeviceException(mapFailure);
                }
                give(Kind.MAPPINGS, 1);
                return new Mapping(region);
            }
        };
    }

    private final class Mapping implements DeviceMapping {
        private final DeviceRegion region;
        private boolean unmapped;

        Mapping(final DeviceRegion region) {
            this.region = region;
        }

        @Override
        public void write(final long offset, final MemorySegment source, final long sourceOffset, final long bytes) {
            MemorySegment.copy(source, sourceOffset, at(region.address() + offset, bytes), 0, bytes);
        }

        @Override
        public void read(final long offset, final MemorySegment target, final long targetOffset, final long bytes) {
            MemorySegment.copy(at(region.address() + offset, bytes), 0, target, targetOffset, bytes);
        }

        @Override
        public void close() {
            if (!unmapped) {
                unmapped = true;
                resources.give(Kind.MAPPINGS, 1);
            }
        }
    }

    @Override
    public synchronized long allocatedBytes() {
        return allocated;
    }

    @Override
    public DeviceResources resources() {
        return resources;
    }

    public boolean isOpen() {
        return !closed;
    }

    public long pinnedBytes() {
        return resources.inUse(Kind.PINNED_BYTES);
    }

    // The message is that of a GPU without further resources of this kind.
    private void give(final Kind kind, final long count) {
        if (asked++ >= refusesFrom) {
            throw new DeviceException("cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2), lower window or frame-max");
        }
        resources.take(kind, count);
    }

    @Override
    public synchronized void close() {
        leftAtClose = closed ? leftAtClose : resources.toString();
        resources.close();
        closed = true;
        if (failure.isEmpty()) {
            streams.forEach(Stream::synchronize);
        }
        arenas.values().forEach(Arena::close);
        arenas.clear();
        memory.clear();
        allocated = 0;
    }

    @Override
    public synchronized boolean isBusy() {
        if (!failure.isEmpty() || closed) {
            return false;
        }
        tick();
        return streams.stream().anyMatch(stream -> !stream.commands.isEmpty());
    }

    /// Starts a kernel on a stream that runs until it is ended.
    ///
    /// @return ends the kernel
    public Runnable launch(final DeviceStream stream) {
        final AtomicBoolean ended = new AtomicBoolean();
        synchronized (this) {
            ((Stream) stream).commands.add(ended::get);
        }
        return () -> ended.set(true);
    }

    private void requireAlive() {
        if (!failure.isEmpty()) {
            throw new DeviceException(failure);
        }
    }

    private MemorySegment at(final long address, final long bytes) {
        final Map.Entry<Long, MemorySegment> entry = memory.floorEntry(address);
        if (entry == null) {
            throw new IllegalStateException("delayed: no memory at " + Long.toHexString(address));
        }
        return entry.getValue().asSlice(address - entry.getKey(), bytes);
    }

    // Like a driver, which checks the range before it accepts the command.
    private synchronized void requireInside(final long address, final long bytes) {
        try {
            at(address, bytes);
        } catch (final IndexOutOfBoundsException e) {
            throw new DeviceException("cuMemcpyDtoHAsync: CUDA_ERROR_INVALID_VALUE (1), check address and length", e);
        }
    }

    private synchronized void tick() {
        requireAlive();
        streams.forEach(Stream::tick);
    }

    private final class Event implements DeviceEvent {
        private boolean shut;
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
            if (!shut) {
                shut = true;
                resources.give(Kind.EVENTS, 1);
            }
        }
    }

    /// A command; returns whether it could run.
    private interface Command {
        boolean run();
    }

    private final class Stream implements DeviceStream {
        private final Deque<Command> commands = new ArrayDeque<>();
        private int asked;

        private void add(final Runnable work) {
            synchronized (DelayedDevice.this) {
                requireAlive();
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
            uploads++;
            synchronized (DelayedDevice.this) {
                unflushedAtUploads += remoteWrites.size();
            }
            add(() -> MemorySegment.copy(source, sourceOffset, at(deviceAddress, bytes), 0, bytes));
        }

        @Override
        public void copyToHost(
                final MemorySegment target, final long targetOffset, final long deviceAddress, final long bytes) {
            requireInside(deviceAddress, bytes);
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
            if (failure.isEmpty()) {
                synchronize();
            }
            synchronized (DelayedDevice.this) {
                if (streams.remove(this)) {
                    resources.give(Kind.STREAMS, 1);
                }
            }
        }
    }
}
