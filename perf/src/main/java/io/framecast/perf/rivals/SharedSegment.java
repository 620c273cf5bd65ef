package io.framecast.perf.rivals;

import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.PrivateDirectory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.IdleStrategy;

/// Memory of one writer and some readers on a host: places for frames, and words that count frames. Nothing else: no
/// member may leave, none is waited for any longer than the others. One thread in each process.
///
/// | offset | word | written by |
/// |---|---|---|
/// | 0 | 1 when all is in place | writer |
/// | 128 | frames published | writer |
/// | 256 + 128 i | frames that reader i has released, and 1 | reader i |
/// | 16384 | places, one behind the other | writer |
final class SharedSegment implements AutoCloseable {
    private static final long PUBLISHED = 128;
    private static final long RELEASED = 256;
    private static final long STEP = 128;
    private static final long FRAMES = 16_384;
    private static final long READERS_MAX = (FRAMES - RELEASED) / STEP;
    private static final long SILENCE_MAX_NS = TimeUnit.SECONDS.toNanos(30);
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final Path MEMORY = Path.of("/dev/shm");

    // Shared, for devices copy out of it on threads of their own.
    private final Arena arena = Arena.ofShared();
    private final Path path;
    private final MemorySegment memory;
    private final int readers;
    private final int places;
    private final long placeBytes;
    private final IdleStrategy idle = MeasuredSystem.idle();
    private long frames;

    private SharedSegment(final StreamSpec spec, final int places, final boolean creates) throws IOException {
        this.places = places;
        readers = spec.load().receivers();
        if (readers > READERS_MAX) {
            throw new IllegalArgumentException("expected at most " + READERS_MAX + " readers, got " + readers);
        }
        placeBytes = Math.ceilDiv(spec.load().frameBytes(), 64) * 64L;
        path = path(spec);
        memory = creates ? create() : open();
    }

    /// @param places how many frames may lie in it
    static SharedSegment create(final StreamSpec spec, final int places) throws IOException {
        return new SharedSegment(spec, places, true);
    }

    /// Waits until the writer has made it, and attaches.
    static SharedSegment attach(final StreamSpec spec, final int places) throws IOException {
        final SharedSegment segment = new SharedSegment(spec, places, false);
        segment.attach(spec.index());
        return segment;
    }

    /// The reader counts as one from now on.
    void attach(final int reader) {
        WORD.setRelease(memory, released(reader), 1L);
    }

    // All processes of a run are children of one, and each stream has a port of its own. Others cannot make the file.
    private static Path path(final StreamSpec spec) throws IOException {
        final long run =
                ProcessHandle.current().parent().map(ProcessHandle::pid).orElse(0L);
        final Path parent = Files.isDirectory(MEMORY) ? MEMORY : Path.of(System.getProperty("java.io.tmpdir"));
        return PrivateDirectory.require(parent.resolve("framecast-bench-" + Libc.getuid()))
                .resolve(run + "-" + spec.link().port());
    }

    private long bytes() {
        return FRAMES + places * placeBytes;
    }

    private MemorySegment create() throws IOException {
        Files.deleteIfExists(path);
        Files.createFile(path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        final MemorySegment made = map();
        // Untouched memory would be made while frames are counted.
        made.asSlice(FRAMES).fill((byte) 1);
        WORD.setRelease(made, 0L, 1L);
        return made;
    }

    private MemorySegment open() throws IOException {
        final long endNs = System.nanoTime() + SILENCE_MAX_NS;
        while (true) {
            try {
                if (Files.size(path) >= bytes()) {
                    final MemorySegment found = map();
                    await(() -> (long) WORD.getAcquire(found, 0L) == 1);
                    return found;
                }
            } catch (final NoSuchFileException e) {
                // The writer is not there yet.
            }
            if (System.nanoTime() > endNs) {
                throw new IllegalStateException("the writer did not make " + path);
            }
            idle.idle();
        }
    }

    private MemorySegment map() throws IOException {
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return file.map(FileChannel.MapMode.READ_WRITE, 0, bytes(), arena);
        }
    }

    private static long released(final int reader) {
        return RELEASED + reader * STEP;
    }

    private MemorySegment place(final long frame, final long frameBytes) {
        return memory.asSlice(FRAMES + frame % places * placeBytes, frameBytes);
    }

    /// Waits until all readers are there. No process needs the file's name after that.
    void awaitReaders() throws IOException {
        await(() -> haveReleased(0));
        Files.deleteIfExists(path);
    }

    private boolean haveReleased(final long count) {
        for (int i = 0; i < readers; i++) {
            if ((long) WORD.getAcquire(memory, released(i)) < count + 1) {
                return false;
            }
        }
        return true;
    }

    /// The writer's: copies a frame into the next place, once all readers have released the one before in it.
    ///
    /// @return the place
    MemorySegment write(final MemorySegment frame) {
        await(() -> haveReleased(frames + 1 - places));
        final MemorySegment place = place(frames, frame.byteSize());
        place.copyFrom(frame);
        frames++;
        WORD.setRelease(memory, PUBLISHED, frames);
        return place;
    }

    /// Waits until every reader has released all.
    void awaitReleased() {
        await(() -> haveReleased(frames));
    }

    /// A reader's: waits for the next frame.
    MemorySegment next(final long frameBytes) {
        await(() -> (long) WORD.getAcquire(memory, PUBLISHED) > frames);
        return place(frames, frameBytes);
    }

    /// A reader's: does not read the frame any more.
    void release(final int reader) {
        frames++;
        WORD.setRelease(memory, released(reader), frames + 1);
    }

    /// The writer's, where it reads too: it has counted the frame.
    void releaseOwn(final int reader) {
        WORD.setRelease(memory, released(reader), frames + 1);
    }

    private void await(final BooleanSupplier condition) {
        long endNs = 0;
        idle.reset();
        while (!condition.getAsBoolean()) {
            final long nowNs = System.nanoTime();
            endNs = endNs == 0 ? nowNs + SILENCE_MAX_NS : endNs;
            if (nowNs > endNs) {
                throw new IllegalStateException("the others are gone");
            }
            idle.idle();
        }
    }

    @Override
    public void close() {
        arena.close();
    }
}
