package io.framecast.engine.sink;

import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.reliability.BundleTable;
import io.framecast.reliability.ReceivedFrame;
import java.lang.foreign.MemorySegment;

/// The memory of a [FifoSink]: a ring that datagrams land in, mend buffers, and a place in the host for
/// repairs. One thread. Owns all of it, from construction to [#close].
interface FifoMemory extends AutoCloseable {
    /// `[ringSlots][slotBytes]`, or longer.
    DeviceRegion ring();

    /// The same as the host sees it; NULL where it does not.
    default MemorySegment hostRing() {
        return ring().host();
    }

    /// Whether the ring is followed by itself, so that a frame which passes its end is in one piece.
    boolean mappedTwice();

    /// `[SinkConfig.REPAIR_SLOTS_POSTED + pullSlots][slotBytes]`.
    MemorySegment repairPayload();

    /// Copies what had landed of a frame into its mend buffer.
    void copyRun(long ringOffset, long mendOffset, long bytes);

    /// Copies a repair into a mend buffer.
    void copyRepair(long repairOffset, long mendOffset, long bytes);

    /// Whether slots of the ring that copies read may be written again.
    boolean isRingQuiet();

    /// So many repair slots were taken, and so many of those that were read out of the source's window, and
    /// their copies begun.
    void repairsTaken(long received, long pulled);

    /// Repair slots that may be written again.
    long receivedCopied();

    /// The same, of those that were read.
    long pulledCopied();

    /// Whether copies are under way.
    boolean isCopying();

    /// Memory of the ring, or of the mend buffers.
    DeviceRegion at(boolean mended, long offset, long bytes);

    /// Copies a frame to where the user wants it.
    void copyTo(DeviceRegion target, boolean mended, long offset, long bytes);

    /// The event completes when everything that has arrived and was copied so far is visible.
    void record(DeviceEvent ready);

    /// Reads the table at a bundle's end.
    boolean openBundle(boolean mended, long offset, ReceivedFrame bundle, BundleTable table);

    @Override
    void close();
}
