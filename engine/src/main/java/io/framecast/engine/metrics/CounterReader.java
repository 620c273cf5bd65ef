package io.framecast.engine.metrics;

import static io.framecast.engine.metrics.CounterLayout.INT;
import static io.framecast.engine.metrics.CounterLayout.INTS;
import static io.framecast.engine.metrics.CounterLayout.LONG;
import static io.framecast.engine.metrics.CounterLayout.LONGS;

import io.framecast.api.error.ConfigException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// Reads the counters of another process from its file, without disturbing that process. The file counts as
/// hostile until the reader has checked it: a damaged one ends in one clear line.
///
/// Threading: one thread at a time.
public final class CounterReader implements AutoCloseable {
    private static final int TRIES_MAX = 1_000;
    private static final EngineCounter.Kind[] KINDS = EngineCounter.Kind.values();

    private final Path path;
    private final FileChannel channel;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory;
    private final int capacity;

    private CounterReader(final Path path, final FileChannel channel) throws IOException {
        this.path = path;
        this.channel = channel;
        try {
            final long bytes = channel.size();
            if (bytes < CounterLayout.HEADER_BYTES || bytes > CounterLayout.fileBytes(CounterLayout.CAPACITY_MAX)) {
                throw damaged("it is " + bytes + " bytes long");
            }
            memory = channel.map(FileChannel.MapMode.READ_ONLY, 0, bytes, arena);
            capacity = checkHeader(bytes);
        } catch (final IOException | RuntimeException | InternalError e) {
            arena.close();
            throw e;
        }
    }

    /// Opens a counters file.
    ///
    /// @throws ConfigException when there is none, or it is not one of this version
    public static CounterReader open(final Path path) {
        try {
            final FileChannel channel = FileChannel.open(path, StandardOpenOption.READ);
            try {
                return new CounterReader(path, channel);
            } catch (final IOException | RuntimeException | InternalError e) {
                channel.close();
                throw e;
            }
        } catch (final NoSuchFileException e) {
            throw new ConfigException("counters file " + path + ": no such file; check that the process runs", e);
        } catch (final IOException | InternalError e) {
            throw new ConfigException("counters file " + path + " cannot be read: " + e.getMessage(), e);
        }
    }

    /// Counters files of this user's processes that run now and were given no other place for them, in order
    /// of process ids.
    public static List<Path> running() {
        return CounterFile.running(Path.of(System.getProperty("java.io.tmpdir")));
    }

    /// Counters files of this process. Its id does not identify them: another container that shares the directory
    /// may have a process of the same id.
    public static List<Path> own() {
        return CounterFile.own();
    }

    /// The process that writes.
    public long pid() {
        return memory.get(LONG, CounterLayout.PID_OFFSET);
    }

    /// When the file was made, in milliseconds since the epoch.
    public long madeMs() {
        return memory.get(LONG, CounterLayout.MADE_OFFSET);
    }

    /// Every counter that is in use now, in order of slots.
    ///
    /// @throws ConfigException when the file was truncated, or holds values that no table writes
    public List<CounterSample> samples() {
        try {
            // A read of a page that was cut off is a fault, which Java turns into InternalError.
            if (channel.size() < memory.byteSize()) {
                throw damaged("it was cut to " + channel.size() + " bytes");
            }
            final List<CounterSample> samples = new ArrayList<>();
            for (int slot = 0; slot < capacity; slot++) {
                final CounterSample sample = sample(slot);
                if (sample != null) {
                    samples.add(sample);
                }
            }
            return samples;
        } catch (final IOException | InternalError e) {
            throw new ConfigException("counters file " + path + " cannot be read: " + e.getMessage(), e);
        }
    }

    @Override
    public void close() {
        arena.close();
        // The reader wrote nothing, so nothing can be lost.
        CloseHelper.quietClose(channel);
    }

    private int checkHeader(final long bytes) {
        if ((long) LONGS.getAcquire(memory, (long) CounterLayout.MAGIC_OFFSET) != CounterLayout.MAGIC) {
            throw damaged("it does not begin as one");
        }
        final int version = memory.get(INT, CounterLayout.VERSION_OFFSET);
        if (version != CounterLayout.VERSION) {
            throw damaged("expected version " + CounterLayout.VERSION + ", got " + version);
        }
        final int slots = memory.get(INT, CounterLayout.CAPACITY_OFFSET);
        if (memory.get(INT, CounterLayout.HEADER_BYTES_OFFSET) != CounterLayout.HEADER_BYTES
                || memory.get(INT, CounterLayout.METADATA_STRIDE_OFFSET) != CounterLayout.METADATA_STRIDE
                || memory.get(INT, CounterLayout.VALUE_STRIDE_OFFSET) != CounterLayout.VALUE_STRIDE
                || slots < 1
                || slots > CounterLayout.CAPACITY_MAX
                || CounterLayout.fileBytes(slots) != bytes) {
            throw damaged("its header does not fit its " + bytes + " bytes");
        }
        if (pid() <= 0) {
            throw damaged("it names no process");
        }
        return slots;
    }

    /// Reads a slot between two equal, even generations.
    private @Nullable CounterSample sample(final int slot) {
        final MemorySegment metadata =
                memory.asSlice(CounterLayout.metadataOffset(slot), CounterLayout.METADATA_STRIDE);
        // An array of long is aligned for every number of the layout.
        final MemorySegment copy = MemorySegment.ofArray(new long[CounterLayout.METADATA_STRIDE / Long.BYTES]);
        for (int i = 0; i < TRIES_MAX; i++) {
            final int before = (int) INTS.getAcquire(metadata, (long) CounterLayout.GENERATION_OFFSET);
            copy.copyFrom(metadata);
            final long value = (long) LONGS.getAcquire(memory, CounterLayout.valueOffset(capacity, slot));
            VarHandle.acquireFence();
            final int after = (int) INTS.getOpaque(metadata, (long) CounterLayout.GENERATION_OFFSET);
            if (before == after && (before & 1) == 0) {
                return decode(slot, copy, value);
            }
            Thread.onSpinWait();
        }
        // The writer died or stopped amid a change.
        return null;
    }

    private @Nullable CounterSample decode(final int slot, final MemorySegment metadata, final long value) {
        final int state = metadata.get(INT, CounterLayout.STATE_OFFSET);
        if (state == CounterLayout.FREE) {
            return null;
        }
        final int kind = metadata.get(INT, CounterLayout.KIND_OFFSET);
        if (state != CounterLayout.USED || kind < 1 || kind > KINDS.length) {
            throw damaged("slot " + slot + " has state " + state + " and kind " + kind);
        }
        final String name = text(slot, metadata, CounterLayout.NAME);
        final String unit = text(slot, metadata, CounterLayout.UNIT);
        final String labels = text(slot, metadata, CounterLayout.LABELS);
        if (!name.matches("[a-z][a-z0-9_]*") || !unit.matches("[a-z]+")) {
            throw damaged("slot " + slot + " has no name or unit");
        }
        try {
            Labels.parse(labels);
        } catch (final IllegalArgumentException e) {
            throw damaged("slot " + slot + " has no labels");
        }
        return new CounterSample(name, labels, value, unit, KINDS[kind - 1]);
    }

    private String text(final int slot, final MemorySegment metadata, final CounterLayout.Text text) {
        final int bytes = metadata.get(INT, text.lengthOffset());
        if (bytes < 0 || bytes > text.bytesMax()) {
            throw damaged("slot " + slot + " has a text of " + bytes + " bytes");
        }
        final byte[] utf8 = metadata.asSlice(text.offset(), bytes).toArray(ValueLayout.JAVA_BYTE);
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(utf8))
                    .toString();
        } catch (final CharacterCodingException e) {
            throw damaged("slot " + slot + " has a text that is not UTF-8");
        }
    }

    private ConfigException damaged(final String why) {
        return new ConfigException("counters file " + path + " is damaged or no counters file of this version: " + why);
    }
}
