package io.framecast.perf.chaos;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.Framecast;
import io.framecast.api.LossReason;
import io.framecast.api.Subscriber;
import io.framecast.perf.harness.ParentLink;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/// Takes frames and checks every one, until the stream ends or is lost to it.
final class ChaosSubscriber {
    private static final Duration LOOK = Duration.ofMillis(100);
    private static final int FRAMES_PER_POLL = 16;
    private static final long WRONG_MAX = 20;
    private static final long HOLD_NS = 1_000_000;
    private static final long BUG_FRAME = 50;

    private final ChaosSettings settings;
    private final ParentLink parent;
    private final ChaosRole role;
    private final FrameCheck check;
    // Reported lost behind the last frame.
    private String lostLast = "";
    private long lostEnd;
    private long wrong;
    private long seen;

    ChaosSubscriber(final ChaosSettings settings, final ParentLink parent, final ChaosRole role) {
        this.settings = settings;
        this.parent = parent;
        this.role = role;
        check = new FrameCheck(settings.frames(), this::complain);
    }

    private void complain(final String text) {
        wrong++;
        if (wrong <= WRONG_MAX) {
            parent.send(StreamLog.WRONG, text);
        }
    }

    int run(final Framecast node) {
        try (Subscriber subscriber = node.subscribe(Channel.parse(settings.channel()))) {
            subscriber.onLoss(this::onLoss);
            return take(subscriber);
        }
    }

    // A subscriber that is evicted, or loses its source, loses frames that had begun then; a member loses
    // nothing.
    private void onLoss(final long first, final long count, final LossReason reason) {
        final boolean ends = reason == LossReason.UNREPAIRABLE || reason == LossReason.NOT_A_MEMBER;
        if (settings.mayMiss() && ends && check.count() > 0) {
            check.onLost(first, count);
            parent.send(StreamLog.LOST, Long.toString(count));
            return;
        }
        final String text = "lost: " + count + " frames from " + first + " on, " + reason;
        final boolean follows = check.count() == 0 || first == Math.max(check.lastId() + 1, lostEnd);
        if (ends && follows) {
            lostEnd = first + count;
            lostLast = lostLast.isEmpty() ? text : lostLast + "; " + text;
        } else {
            complain(text);
        }
    }

    // Something came behind: it was a member.
    private void requireNothingLost() {
        if (!lostLast.isEmpty()) {
            complain(lostLast);
            lostLast = "";
        }
    }

    private int take(final Subscriber subscriber) {
        while (true) {
            if (subscriber.poll(this::onFrame, FRAMES_PER_POLL) > 0) {
                continue;
            }
            switch (subscriber.state()) {
                case JOINING, READY -> subscriber.awaitFrame(LOOK);
                case END_OF_STREAM -> {
                    requireNothingLost();
                    parent.send(StreamLog.END, check.lastId() + " " + check.count());
                    return ChaosRole.ENDED;
                }
                case SOURCE_LOST, FAILED, CLOSED -> {
                    parent.send(StreamLog.OVER, subscriber.failure().orElse("no reason given"));
                    return ChaosRole.OVER;
                }
            }
        }
    }

    private void onFrame(final DeviceFrame frame) {
        requireNothingLost();
        frame.awaitReady();
        final MemorySegment bytes = frame.region().host();
        final boolean broken = seen == BUG_FRAME;
        seen++;
        if (broken && settings.bug() == InjectedBug.FLIP) {
            bytes.set(ValueLayout.JAVA_BYTE, 0, (byte) ~bytes.get(ValueLayout.JAVA_BYTE, 0));
        }
        final boolean first = check.count() == 0;
        if (!broken || settings.bug() != InjectedBug.SKIP) {
            check.onFrame(frame.frameId(), bytes, frame.metadata());
        }
        if (broken && settings.bug() == InjectedBug.TWICE) {
            check.onFrame(frame.frameId(), bytes, frame.metadata());
        }
        if (first) {
            parent.send(StreamLog.JOINED, frame.frameId() + " " + System.nanoTime());
        }
        role.onFrame(parent, frame.frameId(), check.count());
        while (role.isHolding()) {
            // Until it is killed.
            LockSupport.parkNanos(HOLD_NS);
        }
        frame.close();
    }
}
