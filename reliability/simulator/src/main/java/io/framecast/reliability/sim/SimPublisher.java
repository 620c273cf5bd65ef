package io.framecast.reliability.sim;

import io.framecast.reliability.send.CoRootConfig;
import io.framecast.reliability.sim.net.SimEvents;
import io.framecast.reliability.sim.plan.Plant;
import io.framecast.reliability.sim.plan.SimOptions;
import io.framecast.reliability.sim.record.SimFormats;
import io.framecast.reliability.sim.record.SimFrames;
import io.framecast.reliability.sim.record.SimLoans;
import io.framecast.reliability.sim.record.SimPace;
import io.framecast.reliability.window.FrameReaders;
import io.framecast.reliability.window.FrameWriter;
import io.framecast.reliability.window.SendWindow;
import io.framecast.reliability.window.WindowMemory;
import io.framecast.reliability.wire.BundleLayout;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// The publisher: fills the window with frames, in parts as space frees, with pauses between them.
final class SimPublisher {
    private static final int METADATA_BYTES_MAX = 40;
    private static final long WRITING_MAX_NS = 300_000;
    private static final long CLAIM_MAX_NS = 3_000_000;
    // One claim of so many is given back, stays open for a while, is of slots of its own.
    private static final int ABORTS = 12;
    private static final int LINGERS = 6;
    private static final int WHOLE = 3;
    private static final int LENT = 4;

    private final SimOptions.Stream stream;
    private final SimFrames frames;
    private final SimSession session;
    private final SimEvents events;
    private final RandomGenerator random;
    private final SendWindow window;
    private final FrameWriter writer;
    private final WindowMemory memory;
    private final byte[] payloads;
    private final SimFormats formats;
    // Of its own, so that claims change nothing else in a run.
    private final RandomGenerator claims;
    private final SimPace pace;
    // A small frame may have to move to the next slot.
    private final int freeSlotsMin;
    private int published;
    // Of the frame that is committed in parts.
    private SimFrames.Frame open = new SimFrames.Frame(0, 0, 0, 0, 0, new byte[0], new byte[0]);
    private long openIndex;
    // The frame that is to be claimed, or is until a true time.
    private SimFrames.@Nullable Frame pending;
    private boolean isClaimed;
    private int claimedAt;
    private long claimedUntilNs;
    private final boolean isRestless;
    private final SimLoans loans;
    private final boolean lends;
    private final Plant plant;
    private Runnable unwritten = () -> {};
    // Whether members read the window: payloads must then be there before their headers.
    private final boolean watched;
    // Number of datagrams that are written and not committed, and the true time until which that lasts.
    private int written;
    private long writtenUntilNs;
    private boolean ended;
    private boolean torn;

    /// @param beginNs time of the first frame, by the true clock
    SimPublisher(final SimWorld world, final SimSession session, final RandomGenerator random, final long beginNs) {
        final SimOptions options = world.options();
        this.session = session;
        this.random = random;
        stream = options.stream();
        frames = session.frames();
        events = world.events();
        payloads = new byte[Math.multiplyExact(slots(stream), stream.slotBytes())];
        memory = memory(stream, payloads, world.secure() == null ? DataLayout.LENGTH : DataLayout.SEALED_LENGTH);
        window = new SendWindow(memory, session.nonce()).firstFrameId(stream.firstFrameId());
        writer = new FrameWriter(window, FrameReaders.NONE);
        claims = new SplittableRandom(session.nonce());
        formats = new SimFormats(stream.formatFrames(), session.nonce());
        watched = options.audience().oneSided() > 0;
        freeSlotsMin = writer.bundles(Math.max(1, stream.frameBytes())) ? 2 : 1;
        plant = world.plant();
        isRestless = options.faults().unrest() > 0;
        loans = new SimLoans(window);
        // As the engine refuses it: sealing and replicas take payloads from the window.
        lends = isRestless
                && world.secure() == null
                && options.audience().coRoots().feed() == CoRootConfig.Feed.MULTICAST;
        // Long faults need a stream that lasts as long.
        final long spreadNs = options.faults().crashes().isAny() || world.secure() != null
                ? SimFaults.CRASHES_NS / stream.frames()
                : 0;
        pace = new SimPace(options, random, claims, spreadNs, beginNs);
    }

    // One more for the probe's slot.
    private static int slots(final SimOptions.Stream stream) {
        return stream.windowSlots() + 1;
    }

    private static WindowMemory memory(final SimOptions.Stream stream, final byte[] payloads, final int headerBytes) {
        final int[] lengths = new int[slots(stream)];
        lengths[stream.windowSlots()] = stream.slotBytes();
        return new WindowMemory(
                MemorySegment.ofArray(new byte[slots(stream) * headerBytes]),
                MemorySegment.ofArray(payloads),
                lengths,
                stream.windowSlots(),
                stream.slotBytes(),
                headerBytes);
    }

    SendWindow window() {
        return window;
    }

    WindowMemory memory() {
        return memory;
    }

    SimLoans loans() {
        return loans;
    }

    /// Slots that the claim refused last wants; 0 where none was refused.
    int refusedSlots() {
        return writer.refusedSlots();
    }

    /// Whether nothing more will be published.
    boolean isEnded() {
        return ended;
    }

    /// Whether the stream ended in the middle of a frame.
    boolean endsMidFrame() {
        return torn;
    }

    /// Publishes the frames that are due and have room.
    void publish() {
        loans.reap();
        unwritten.run();
        unwritten = () -> {};
        boolean advanced = true;
        while (advanced && !torn) {
            advanced = pending != null ? advanceClaim(pending) : writer.isIdle() ? beginFrame() : writePart();
        }
    }

    private boolean writePart() {
        if ((written == 0 && !write()) || events.nowNs() < writtenUntilNs) {
            return false;
        }
        final int count = written;
        openIndex += count;
        written = 0;
        if (!writer.commitPart(count)) {
            tear();
        }
        return true;
    }

    private boolean write() {
        final int free = writer.roomForPart();
        if (free == 0) {
            return false;
        }
        written = Math.min(free, 1 + random.nextInt(window.freeSlots()));
        for (int i = 0; i < written; i++) {
            final long offset = (openIndex + i) * stream.slotBytes();
            final int bytes = (int) Math.min(stream.slotBytes(), open.bytes() - offset);
            final int slot = window.slot(open.firstSequence() + openIndex + i);
            frames.fill(open.id(), offset, payloads, slot * stream.slotBytes(), bytes);
        }
        if (watched && random.nextInt(4) == 0) {
            writtenUntilNs = events.nowNs() + random.nextLong(WRITING_MAX_NS);
        }
        return true;
    }

    private void tear() {
        if (stream.tornEnd() && published == stream.frames() && random.nextInt(2) == 0) {
            torn = true;
            ended = true;
        }
    }

    // A producer may give a claim back, and may take its time: the sender's cycles go on meanwhile.
    private boolean advanceClaim(final SimFrames.Frame frame) {
        if (!isClaimed) {
            final long place = writer.claim(frame.bytes());
            if (place == FrameWriter.NO_ROOM) {
                return false;
            }
            isClaimed = true;
            claimedAt = (int) place;
            // Half of the bytes are another's until the commit.
            frames.fill(frame.id() + 1, 0, payloads, claimedAt, (int) (frame.bytes() + 1) / 2);
            claimedUntilNs = isRestless && claims.nextInt(LINGERS) == 0
                    ? events.nowNs() + claims.nextLong(CLAIM_MAX_NS)
                    : events.nowNs();
        }
        if (events.nowNs() < claimedUntilNs) {
            return false;
        }
        isClaimed = false;
        if (isRestless && claims.nextInt(ABORTS) == 0) {
            writer.abort();
        } else {
            pending = null;
            commit(frame);
        }
        return true;
    }

    private void commit(final SimFrames.Frame frame) {
        if (plant == Plant.COMMIT_UNWRITTEN) {
            commitUnwritten(frame);
            return;
        }
        frames.fill(frame.id(), 0, payloads, claimedAt, (int) frame.bytes());
        commitWritten(frame);
    }

    // The bytes come at the next call, when the sender may have sent the datagram.
    private void commitUnwritten(final SimFrames.Frame frame) {
        commitWritten(frame);
        final int at = claimedAt;
        unwritten = () -> frames.fill(frame.id(), 0, payloads, at, (int) frame.bytes());
    }

    private void commitWritten(final SimFrames.Frame frame) {
        final boolean bundled = writer.bundles(frame.bytes());
        // The sender's thread may take the bundle at any moment, this one too.
        if (bundled && random.nextInt(8) == 0) {
            window.takeBundle();
        }
        final long slots = StreamInfo.slots(frame.bytes(), stream.slotBytes());
        writer.commit(frame.flags(), frame.timestampNs(), frame.metadata());
        // A bundle is still open; other frames are committed already, and the cursor is behind them.
        final boolean isOpen = bundled && frame.metadata().length == 0;
        frames.add(frame.at(window.cursor() - (isOpen ? 0 : slots)), slots);
    }

    private boolean beginFrame() {
        if (published == stream.frames()) {
            if (!ended) {
                ended = true;
                writer.flush();
            }
            return false;
        }
        if (formats.isUndecided()) {
            writer.format(formats.mistake());
            writer.awaitedSlots(1);
        }
        if (events.nowNs() < pace.nextNs() || window.freeSlots() < freeSlotsMin) {
            return false;
        }
        if (formats.isDue()) {
            writer.format(formats.wanted());
            if (!writer.reserve(freeSlotsMin)) {
                return false;
            }
            formats.change();
        }
        final byte[] metadata = new byte[random.nextInt(4) == 0 ? 1 + random.nextInt(METADATA_BYTES_MAX) : 0];
        random.nextBytes(metadata);
        final long bytes = frameBytes();
        final int flags = random.nextInt(8) == 0 ? DataLayout.FLAG_KEYFRAME : 0;
        final long timestampNs = session.calendarNs(events.nowNs());
        final SimFrames.Frame frame = new SimFrames.Frame(
                frames.nextId(), window.cursor(), bytes, flags, timestampNs, metadata, formats.take());
        published++;
        pace.onFrame(StreamInfo.slots(bytes, stream.slotBytes()), events.nowNs());
        if (writer.bundles(bytes) || isClaimedWhole(bytes)) {
            pending = frame;
        } else if (isLent(bytes)) {
            lend(frame);
        } else {
            beginParts(frame);
        }
        return true;
    }

    // The window must have room for all of it.
    private boolean isLent(final long bytes) {
        return lends && claims.nextInt(LENT) == 0 && StreamInfo.slots(bytes, stream.slotBytes()) < window.freeSlots();
    }

    private void lend(final SimFrames.Frame frame) {
        final long slots = StreamInfo.slots(frame.bytes(), stream.slotBytes());
        if (!writer.reserve(slots)) {
            throw new IllegalStateException(slots + " slots were free");
        }
        final SimFrames.Frame lent = frame.gathered().at(window.cursor());
        loans.lend(frames, lent, slots);
        frames.add(lent, slots);
        writer.begin(lent.bytes(), lent.flags(), lent.timestampNs(), lent.metadata());
        writer.commitPart((int) slots);
    }

    // Frames that are claimed lie in the window as a whole, and contiguous: the simulated one is mapped once.
    private boolean isClaimedWhole(final long bytes) {
        final long slots = StreamInfo.slots(bytes, stream.slotBytes());
        return isRestless && window.slot(window.cursor()) + slots < window.slots() && claims.nextInt(WHOLE) == 0;
    }

    private void beginParts(final SimFrames.Frame frame) {
        if (!writer.reserve(1)) {
            throw new IllegalStateException("a slot was free");
        }
        final SimFrames.Frame placed = frame.at(window.cursor());
        final long slots = writer.begin(frame.bytes(), frame.flags(), frame.timestampNs(), frame.metadata());
        open = frames.add(placed, slots);
        openIndex = 0;
    }

    private long frameBytes() {
        if (stream.frameBytes() > 0) {
            return stream.frameBytes();
        }
        final long max = stream.frameMaxBytes();
        final long slot = stream.slotBytes();
        final int shared = Math.min((int) max, BundleLayout.frameBytesMax(stream.slotBytes()));
        if (pace.isBurst() && shared > 0) {
            return 1L + claims.nextInt(shared);
        }
        if (shared > 0 && random.nextInt(2) == 0) {
            return 1L + random.nextInt(shared);
        }
        return switch (random.nextInt(6)) {
            case 0 -> 1;
            case 1 -> slot;
            case 2 -> Math.min(max, slot + 1);
            case 3 -> max;
            default -> 1 + random.nextLong(max);
        };
    }

    /// The time at which the next frame is due, by the true clock; MAX_VALUE when the publisher waits for
    /// something else.
    long nextFrameNs() {
        if (written > 0) {
            return writtenUntilNs;
        }
        if (isClaimed) {
            return claimedUntilNs;
        }
        final boolean due = pending == null
                && writer.isIdle()
                && !window.isFormatBlocked()
                && !torn
                && published < stream.frames()
                && window.freeSlots() >= freeSlotsMin;
        return due ? pace.nextNs() : Long.MAX_VALUE;
    }
}
