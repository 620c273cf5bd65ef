package io.framecast.reliability.sim;

import io.framecast.reliability.sim.net.SimEvents;
import io.framecast.reliability.sim.plan.SimOptions;
import io.framecast.reliability.sim.record.SimFormats;
import io.framecast.reliability.sim.record.SimFrames;
import io.framecast.reliability.window.SendWindow;
import io.framecast.reliability.window.SmallFrames;
import io.framecast.reliability.window.WindowMemory;
import io.framecast.reliability.wire.BundleLayout;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.foreign.MemorySegment;
import java.util.random.RandomGenerator;

/// The publisher: fills the window with frames, in parts as space frees, with pauses between them.
final class SimPublisher {
    private static final int METADATA_BYTES_MAX = 40;
    private static final long PAUSE_MAX_NS = 2_000_000;
    private static final long BREAK_MAX_NS = 400_000_000;
    private static final long WRITING_MAX_NS = 300_000;

    private final SimOptions.Stream stream;
    private final SimFrames frames;
    private final SimSession session;
    private final SimEvents events;
    private final RandomGenerator random;
    private final SendWindow window;
    private final SmallFrames small;
    private final WindowMemory memory;
    private final byte[] payloads;
    private final double load;
    private final long datagramNs;
    private final SimFormats formats;
    private final long pauseMaxNs;
    private final long breakMaxNs;
    // A small frame may have to move to the next slot.
    private final int freeSlotsMin;
    private int published;
    private SimFrames.Frame open = new SimFrames.Frame(0, 0, 0, 0, 0, new byte[0], new byte[0]);
    private long openIndex;
    private long openSlots;
    // By the true clock.
    private long nextFrameNs;
    // Whether members read the window: payloads must then be there before their headers.
    private final boolean watched;
    // Number of datagrams that are written and not committed, and the true time until which that lasts.
    private int written;
    private long writtenUntilNs;
    private boolean ended;
    // The next frame's format has no number until frames are freed.
    private boolean awaitsNumber;
    private boolean torn;

    /// @param beginNs time of the first frame, by the true clock
    SimPublisher(final SimWorld world, final SimSession session, final RandomGenerator random, final long beginNs) {
        final SimOptions options = world.options();
        this.session = session;
        this.random = random;
        stream = options.stream();
        load = options.flow().load();
        datagramNs = options.flow().datagramNs();
        frames = session.frames();
        events = world.events();
        // One more for the probe's slot.
        final int slots = stream.windowSlots() + 1;
        final int headerBytes = world.secure() == null ? DataLayout.LENGTH : DataLayout.SEALED_LENGTH;
        payloads = new byte[Math.multiplyExact(slots, stream.slotBytes())];
        final int[] lengths = new int[slots];
        lengths[stream.windowSlots()] = stream.slotBytes();
        memory = new WindowMemory(
                MemorySegment.ofArray(new byte[slots * headerBytes]),
                MemorySegment.ofArray(payloads),
                lengths,
                stream.windowSlots(),
                stream.slotBytes(),
                headerBytes);
        window = new SendWindow(memory, session.nonce()).firstFrameId(stream.firstFrameId());
        small = window.bundle();
        formats = new SimFormats(stream.formatFrames(), session.nonce());
        watched = options.audience().oneSided() > 0;
        freeSlotsMin = small.takes(Math.max(1, stream.frameBytes())) ? 2 : 1;
        nextFrameNs = beginNs;
        pauseMaxNs = options.faults().unrest() == 0 ? 1 : 1 + random.nextLong(PAUSE_MAX_NS);
        // Long faults need a stream that lasts as long.
        final long spreadNs = options.faults().crashes().isAny() || world.secure() != null
                ? SimFaults.CRASHES_NS / stream.frames()
                : 0;
        breakMaxNs = Math.min(BREAK_MAX_NS, (long) (4 * spreadNs * random.nextDouble()));
    }

    SendWindow window() {
        return window;
    }

    WindowMemory memory() {
        return memory;
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
        while (true) {
            if (torn || (openIndex == openSlots && !beginFrame())) {
                return;
            }
            if (openIndex == openSlots) {
                continue;
            }
            if (written == 0 && !write()) {
                return;
            }
            if (events.nowNs() < writtenUntilNs) {
                return;
            }
            window.commit(open.bytes(), written);
            openIndex += written;
            written = 0;
            tear();
        }
    }

    private boolean write() {
        final int free = window.freeSlots();
        if (free == 0) {
            return false;
        }
        written = (int) Math.min(openSlots - openIndex, 1 + random.nextInt(free));
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

    /// Whether the next frame's format has no number until frames are freed.
    boolean isFormatBlocked() {
        return awaitsNumber;
    }

    private void tear() {
        if (stream.tornEnd() && published == stream.frames() && openIndex < openSlots && random.nextInt(2) == 0) {
            torn = true;
            ended = true;
        }
    }

    private boolean beginFrame() {
        if (published == stream.frames()) {
            if (!ended) {
                ended = true;
                small.close();
            }
            return false;
        }
        if (formats.isUndecided()) {
            small.close();
            formats.mistake(window);
        }
        if (events.nowNs() < nextFrameNs || window.freeSlots() < freeSlotsMin) {
            return false;
        }
        if (formats.isDue()) {
            small.close();
            awaitsNumber = window.freeSlots() < freeSlotsMin || !formats.change(window);
            if (awaitsNumber) {
                return false;
            }
        }
        final byte[] metadata = new byte[random.nextInt(4) == 0 ? 1 + random.nextInt(METADATA_BYTES_MAX) : 0];
        random.nextBytes(metadata);
        final long bytes = frameBytes();
        final int flags = random.nextInt(8) == 0 ? DataLayout.FLAG_KEYFRAME : 0;
        final long timestampNs = session.calendarNs(events.nowNs());
        final SimFrames.Frame frame = new SimFrames.Frame(
                frames.nextId(), window.cursor(), bytes, flags, timestampNs, metadata, formats.take());
        published++;
        nextFrameNs = load > 0 ? nextFrameNs + intervalNs(bytes) : events.nowNs() + pauseNs();
        if (small.takes(bytes)) {
            publishSmall(frame);
            return true;
        }
        small.close();
        openSlots = StreamInfo.slots(bytes, stream.slotBytes());
        openIndex = 0;
        open = frames.add(frame.at(window.cursor()), openSlots);
        window.beginFrame(bytes, flags, open.timestampNs(), metadata);
        return true;
    }

    private long intervalNs(final long bytes) {
        return (long) (StreamInfo.slots(bytes, stream.slotBytes()) * datagramNs / load);
    }

    private long pauseNs() {
        return breakMaxNs > 0 && random.nextBoolean() ? random.nextLong(breakMaxNs) : random.nextLong(pauseMaxNs);
    }

    private void publishSmall(final SimFrames.Frame frame) {
        final int bytes = (int) frame.bytes();
        frames.fill(frame.id(), 0, payloads, (int) small.claim(bytes), bytes);
        // The sender's thread may take the bundle at any moment, this one too.
        if (random.nextInt(8) == 0) {
            window.takeBundle();
        }
        final byte[] metadata = frame.metadata();
        small.commit(frame.flags(), frame.timestampNs(), metadata);
        // A frame with metadata is committed already, and the cursor is behind it.
        frames.add(frame.at(window.cursor() - (metadata.length == 0 ? 0 : 1)), 1);
    }

    private long frameBytes() {
        if (stream.frameBytes() > 0) {
            return stream.frameBytes();
        }
        final long max = stream.frameMaxBytes();
        final long slot = stream.slotBytes();
        final int shared = Math.min((int) max, BundleLayout.frameBytesMax(stream.slotBytes()));
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

    /// The time at which the next frame is due, by the true clock; MAX_VALUE when the publisher waits for something
    /// else.
    long nextFrameNs() {
        if (written > 0) {
            return writtenUntilNs;
        }
        final boolean due = !awaitsNumber
                && !torn
                && openIndex == openSlots
                && published < stream.frames()
                && window.freeSlots() >= freeSlotsMin;
        return due ? nextFrameNs : Long.MAX_VALUE;
    }
}
