package io.framecast.perf.chaos;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.Framecast;
import io.framecast.api.LossReason;
import io.framecast.api.NodeConfig;
import io.framecast.api.Subscriber;
import io.framecast.api.error.FramecastException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;

/// Takes frames and checks every one, until the stream ends or is lost to it.
final class ChaosSubscriber {
    private static final Duration LOOK = Duration.ofMillis(100);
    private static final int FRAMES_PER_POLL = 16;
    private static final long WRONG_MAX = 20;
    private static final long PLANTED_FRAME = 50;

    private final ChildSettings settings;
    private final FrameCheck check;
    private final ProgressLine progress = new ProgressLine();
    // Reported lost behind the last frame.
    private String lostLast = "";
    private long lostEnd;
    private long wrong;
    private long seen;

    ChaosSubscriber(final ChildSettings settings) {
        this.settings = settings;
        check = new FrameCheck(settings.frames(), this::complain);
    }

    private void complain(final String text) {
        wrong++;
        if (wrong <= WRONG_MAX) {
            ChaosChild.say(ChildLines.WRONG + " " + text);
        }
    }

    int run() {
        final NodeConfig config =
                NodeConfig.DEFAULT.withCountersFile(settings.counters()).withNotices(System.err::println);
        try (Framecast node = Framecast.launch(config);
                Subscriber subscriber = node.subscribe(Channel.parse(settings.channel()))) {
            subscriber.onLoss(this::onLoss);
            return take(subscriber);
        } catch (final FramecastException | IllegalStateException e) {
            ChaosChild.say(ChildLines.OVER + " " + e.getMessage());
            return ChaosChild.OVER;
        }
    }

    // Whoever is evicted, or loses its source, hears of frames that had begun then; a member loses nothing.
    private void onLoss(final long first, final long count, final LossReason reason) {
        final boolean ends = reason == LossReason.UNREPAIRABLE || reason == LossReason.NOT_A_MEMBER;
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
                    ChaosChild.say(ChildLines.END + " " + check.lastId() + " " + check.count());
                    return ChaosChild.ENDED;
                }
                case SOURCE_LOST, FAILED, CLOSED -> {
                    ChaosChild.say(ChildLines.OVER + " " + subscriber.failure().orElse("no reason given"));
                    return ChaosChild.OVER;
                }
            }
        }
    }

    private void onFrame(final DeviceFrame frame) {
        requireNothingLost();
        frame.awaitReady();
        final MemorySegment bytes = frame.region().host();
        final boolean planted = seen == PLANTED_FRAME;
        seen++;
        if (planted && settings.plant() == Plant.FLIP) {
            bytes.set(ValueLayout.JAVA_BYTE, 0, (byte) ~bytes.get(ValueLayout.JAVA_BYTE, 0));
        }
        final boolean first = check.count() == 0;
        if (!planted || settings.plant() != Plant.SKIP) {
            check.onFrame(frame.frameId(), bytes, frame.metadata());
        }
        if (planted && settings.plant() == Plant.TWICE) {
            check.onFrame(frame.frameId(), bytes, frame.metadata());
        }
        if (first) {
            ChaosChild.say(ChildLines.JOINED + " " + frame.frameId() + " " + System.nanoTime());
        }
        progress.onFrame(frame.frameId(), check.count());
        frame.close();
    }
}
