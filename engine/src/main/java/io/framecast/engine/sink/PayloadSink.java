package io.framecast.engine.sink;

import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.ReceiveRing;
import io.framecast.api.spi.TransportCapabilities.Placement;
import io.framecast.reliability.BundleTable;
import io.framecast.reliability.ReceivedFrame;
import io.framecast.reliability.ReceiverMachine;
import io.framecast.reliability.placement.FrameLedger;
import org.jspecify.annotations.Nullable;

/// Where a session's payloads land and how they reach their final address: a ring of slots in the memory of
/// one device. For memory that the host addresses there is one implementation by sequence and one by order of
/// arrival, as the transport takes slots; one stages copies for memory that it does not.
///
/// Threading: the receiver's thread only, but for construction and [#close]. Ownership: a sink owns its ring
/// and landing memory, from construction to [#close].
public interface PayloadSink extends AutoCloseable {
    /// The memory for the data lane, for opening it.
    ReceiveRing dataRing();

    /// The memory for the repair lane.
    ReceiveRing repairRing();

    /// Where what is read out of windows lands; null where none of that is taken.
    @Nullable
    PullSlots pulls();

    /// The lanes opened over these rings; before the first [#poll].
    void attach(Lane data, Lane repair, Placement placement);

    /// Datagrams that may be under way to the data lane, as far as this sink's own memory decides.
    int receiveSlots();

    /// The bookkeeping of the frames in this sink's ring, for the one who hands them out.
    FrameLedger ledger();

    /// Slots of sequences below `limit` may be written.
    void onCredit(long limit);

    /// Takes what has arrived on the data and repair lanes, tells the machine, puts payloads in place.
    ///
    /// @return datagrams taken
    int poll(ReceiverMachine machine, long nowNs);

    /// Whether copies are under way whose end nobody tells of: whoever waits for memory must look for itself.
    boolean isCopying();

    /// The machine gave out its next frame, or bundle of frames. From now on it lies where it lies now,
    /// whatever is given up behind it; [#openBundle] and [#deliver] are about it until the next is taken.
    void take(ReceivedFrame frame);

    /// The frames of sequences from `firstSequence` to below `endSequence` were given up.
    ///
    /// @param jumped by how much sequences jump against slots from `endSequence` on
    void skip(long firstSequence, long endSequence, long jumped);

    /// Reads the table of a bundle that is complete, before its frames are delivered one by one.
    ///
    /// @return false when the table cannot be
    boolean openBundle(ReceivedFrame bundle, BundleTable table);

    /// Whether the frame taken is still on its way to its place by a NIC, which no stream waits for: it is
    /// delivered when it is there, and soon.
    default boolean isArriving() {
        return false;
    }

    /// Makes the frame taken, or one of the bundle taken, contiguous and records `ready` behind its last
    /// copy. Not while [#isArriving].
    ///
    /// @param target where the frame must lie instead of in the ring; null for in the ring
    /// @return the frame's memory, or null when the mend buffer is needed and not free: try again later
    @Nullable
    DeviceRegion deliver(ReceivedFrame frame, @Nullable DeviceRegion target, DeviceEvent ready);

    /// Nothing lies in the ring: the sequences from `next` on may as well begin at its start, where memory is
    /// still in the caches.
    void rewind(long next);

    /// How the frame delivered last came to lie where it is.
    Delivery lastDelivery();

    /// The frame in the mend buffer was given back.
    void mendReleased();

    /// Payload bytes copied once more than the placement needs.
    long mendedBytes();

    /// Repairs that came and found no room: they come again.
    default long refusedRepairs() {
        return 0;
    }

    /// Payload bytes that the CPU stored through a mapping of device memory.
    default long storedBytes() {
        return 0;
    }

    /// What a NIC has copied from the host into device memory; null where none is to.
    default @Nullable NicCounts nicCounts() {
        return null;
    }

    /// The transport is about to be closed: nothing of it is used any more, nothing more lands. Frames that
    /// were delivered stay readable. Idempotent.
    default void detach() {
        // Lanes are the session's.
    }

    @Override
    void close();

    /// Whether the data lane is polled in a state. Between probe and START it is not: the source may send at
    /// once what START speaks of, on another lane, and must not be dropped as early; it waits in the
    /// transport, whose room credit has counted. At the end it is not: nothing is expected, and all of the
    /// ring may be in the user's hands.
    static boolean listens(final ReceiverMachine.State state) {
        return switch (state) {
            case JOINING, PROBING, RECEIVING -> true;
            case STARTING, ENDED, LOST, REFUSED -> false;
        };
    }

    /// Where a delivered frame lies.
    enum Delivery {
        /// In the ring, never moved.
        IN_PLACE,
        /// Moved, or parts of it, after loss; or in the user's buffer.
        MENDED,
        /// In the mend buffer, until [#mendReleased].
        IN_MEND_BUFFER
    }
}
