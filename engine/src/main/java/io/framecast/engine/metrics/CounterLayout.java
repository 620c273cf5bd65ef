package io.framecast.engine.metrics;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/// The counters file, version 1; all numbers little-endian.
///
/// ```
/// header    0 magic u64    8 version u32   12 header bytes u32   16 capacity u32   20 metadata stride u32
///          24 value stride u32   28 zero u32   32 pid u64   40 made, ms since the epoch u64
///          48 process start, ms since the epoch, 0 unknown u64   … 256
/// metadata  [capacity][512]
///           0 generation u32   4 state u32 (0 free, 1 used)   8 ignored u32   12 kind u32 (1 counter, 2 gauge)
///          16 name bytes u32   20 unit bytes u32   24 label bytes u32
///          32 name[96]   128 unit[32]   160 labels[352]
/// values    [capacity][128]: 0 value i64
/// ```
///
/// The writer stores the magic last. A generation is odd while its metadata change: a reader accepts only values
/// that it read between two equal even ones. Values lie 128 bytes apart, because processors fetch cache lines in
/// pairs.
final class CounterLayout {
    /// "FRMCNTRS" in the order of the bytes.
    static final long MAGIC = 0x5352_544E_434D_5246L;

    static final int VERSION = 1;
    static final int HEADER_BYTES = 256;
    static final int METADATA_STRIDE = 512;
    static final int VALUE_STRIDE = 128;
    static final int CAPACITY_MAX = 65_536;

    static final int MAGIC_OFFSET = 0;
    static final int VERSION_OFFSET = 8;
    static final int HEADER_BYTES_OFFSET = 12;
    static final int CAPACITY_OFFSET = 16;
    static final int METADATA_STRIDE_OFFSET = 20;
    static final int VALUE_STRIDE_OFFSET = 24;
    static final int PID_OFFSET = 32;
    static final int MADE_OFFSET = 40;
    static final int PROCESS_START_OFFSET = 48;

    static final int GENERATION_OFFSET = 0;
    static final int STATE_OFFSET = 4;
    static final int KIND_OFFSET = 12;
    static final Text NAME = new Text(16, 32, 96);
    static final Text UNIT = new Text(20, 128, 32);
    static final Text LABELS = new Text(24, 160, 352);

    static final int FREE = 0;
    static final int USED = 1;

    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

    /// Coordinates: segment, offset in bytes.
    static final VarHandle INTS = INT.varHandle();

    static final VarHandle LONGS = LONG.varHandle();

    private CounterLayout() {}

    static long fileBytes(final int capacity) {
        return HEADER_BYTES + (long) capacity * (METADATA_STRIDE + VALUE_STRIDE);
    }

    static long metadataOffset(final int slot) {
        return HEADER_BYTES + (long) slot * METADATA_STRIDE;
    }

    static long valueOffset(final int capacity, final int slot) {
        return HEADER_BYTES + (long) capacity * METADATA_STRIDE + (long) slot * VALUE_STRIDE;
    }

    /// The number of a kind in the file.
    static int number(final EngineCounter.Kind kind) {
        return kind.ordinal() + 1;
    }

    /// A text within a slot's metadata, as UTF-8.
    ///
    /// @param lengthOffset offset of its length
    /// @param offset offset of its bytes
    /// @param bytesMax room for its bytes
    record Text(int lengthOffset, int offset, int bytesMax) {
        void write(final MemorySegment metadata, final String text) {
            final byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
            metadata.set(INT, lengthOffset, utf8.length);
            MemorySegment.copy(utf8, 0, metadata, ValueLayout.JAVA_BYTE, offset, utf8.length);
        }
    }
}
