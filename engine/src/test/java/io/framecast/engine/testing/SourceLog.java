package io.framecast.engine.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.LossHandler;
import io.framecast.api.LossReason;
import io.framecast.api.Publisher;
import io.framecast.api.SourceEvent;
import io.framecast.api.SourceEvent.Kind;
import io.framecast.api.Subscriber;
import io.framecast.testing.FrameBytes;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// The frames of each session that a subscriber received, checked on arrival: frames between the session's start
/// and end, in order, none twice, each with the bytes of the publisher that its metadata names.
public final class SourceLog {
    /// One session.
    public static final class Session {
        public int publisher = -1;
        public long firstFrameId;
        public long nextFrameId;
        public int frames;
        public boolean open;
        public int lives;
        public long lost;
    }

    public final Subscriber subscriber;
    public final List<SourceEvent> events = new ArrayList<>();
    public final Map<Long, Session> sessions = new HashMap<>();
    public int frames;
    public long lost;

    public SourceLog(final Subscriber subscriber) {
        this.subscriber = subscriber;
        subscriber.onSource(this::onSource);
        subscriber.onLoss(new LossHandler() {
            @Override
            public void onLoss(final long first, final long count, final LossReason reason) {
                throw new AssertionError("the other is called");
            }

            @Override
            public void onLoss(final long session, final long first, final long count, final LossReason reason) {
                onLostFrames(sessions.get(session), first, count, reason);
            }
        });
    }

    // A member loses nothing. Frames missed between two memberships, and a frame that had begun, are reported in
    // order.
    private void onLostFrames(final Session session, final long first, final long count, final LossReason reason) {
        assertEquals(session.nextFrameId, first, () -> "lost " + count + ", " + reason);
        assertTrue(reason != LossReason.EXPIRED && reason != LossReason.DAMAGED, reason::name);
        session.nextFrameId += count;
        session.lost += count;
        lost += count;
    }

    private void onSource(final SourceEvent event) {
        events.add(event);
        final Session session = sessions.computeIfAbsent(event.session(), _ -> new Session());
        if (event.kind() == Kind.JOINED || event.kind() == Kind.REJOINED) {
            assertTrue(!session.open, () -> "joined twice: " + events);
            assertTrue(event.firstFrameId() >= session.nextFrameId, () -> "back in time: " + events);
            session.open = true;
            session.lives++;
            session.firstFrameId = event.firstFrameId();
            session.nextFrameId = session.lives == 1 ? event.firstFrameId() : session.nextFrameId;
        } else {
            assertTrue(session.open, () -> "over twice: " + events);
            session.open = false;
        }
    }

    public void poll() {
        DeviceFrame frame = subscriber.poll();
        while (frame != null) {
            onFrame(frame);
            frame = subscriber.poll();
        }
    }

    private void onFrame(final DeviceFrame frame) {
        final Session session = sessions.get(frame.session());
        assertNotNull(session, () -> "a frame before its session was joined: " + events);
        assertTrue(session.open, () -> "a frame of a session that is over: " + events);
        assertEquals(session.nextFrameId, frame.frameId());
        final int publisher = frame.metadata()[0];
        assertTrue(session.publisher < 0 || session.publisher == publisher);
        session.publisher = publisher;
        session.nextFrameId++;
        session.frames++;
        frames++;
        frame.awaitReady();
        assertEquals(bytes(publisher, (int) frame.frameId()), frame.length());
        FrameBytes.require(
                content(publisher, (int) frame.frameId()), frame.region().host(), frame.length());
        frame.close();
    }

    public long count(final Kind kind) {
        return events.stream().filter(event -> event.kind() == kind).count();
    }

    /// The only session of this publisher.
    public Session of(final int publisher) {
        final List<Session> found = sessions.values().stream()
                .filter(session -> session.publisher == publisher)
                .toList();
        assertEquals(1, found.size(), () -> "sessions of " + publisher + " in " + events);
        return found.getFirst();
    }

    private static long bytes(final int publisher, final int id) {
        return 1 + (id * 7_001L + publisher * 997L) % 60_000;
    }

    // The number whose bytes a frame of that publisher has.
    private static int content(final int publisher, final int id) {
        return id + 7 * publisher;
    }

    /// Publishes frames with the content that the log expects.
    public static final class Feeder {
        public final Framecast node;
        public final Publisher publisher;
        private final int number;
        private int id;

        public Feeder(final Framecast node, final Publisher publisher, final int number) {
            this.node = node;
            this.publisher = publisher;
            this.number = number;
        }

        public int frames() {
            return id;
        }

        /// @return whether the frame was taken
        public boolean offer() {
            final byte[] bytes = FrameBytes.of(content(number, id), bytes(number, id));
            final FrameOptions options = FrameOptions.DEFAULT.withMetadata(new byte[] {(byte) number});
            final boolean taken = publisher.offer(MemorySegment.ofArray(bytes), options) > 0;
            id += taken ? 1 : 0;
            return taken;
        }
    }
}
