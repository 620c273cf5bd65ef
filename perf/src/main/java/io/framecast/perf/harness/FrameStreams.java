package io.framecast.perf.harness;

import io.framecast.api.FrameClaim;
import io.framecast.api.NodeConfig;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// Steps of programs that publish or subscribe and fail when their peers are gone. Every method throws
/// [IllegalStateException] with the reason then.
public final class FrameStreams {
    /// Placement of frames that are copied to a device.
    public static final String STAGED = "staged";

    private static final Duration LOOK = Duration.ofSeconds(1);
    private static final long JOIN_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long JOIN_MAX_NS = TimeUnit.SECONDS.toNanos(30);
    private static final List<String> CHOICES = List.of("transport: ", "device: ", "source memory: ");

    private FrameStreams() {}

    /// A node whose warnings (a socket buffer that is too small) go to stderr; its choices are in the report.
    public static NodeConfig config() {
        return NodeConfig.DEFAULT.withNotices(notice -> {
            if (CHOICES.stream().noneMatch(notice::startsWith)) {
                System.err.println(notice);
            }
        });
    }

    public static void awaitReady(final Publisher publisher, final int subscribers) {
        final long endNs = System.nanoTime() + JOIN_MAX_NS;
        while (publisher.readySubscribers() < subscribers) {
            requireOpen(publisher);
            if (System.nanoTime() - endNs > 0) {
                throw new IllegalStateException(
                        publisher.readySubscribers() + " of " + subscribers + " receivers joined");
            }
            LockSupport.parkNanos(JOIN_PAUSE_NS);
        }
    }

    public static void requireOpen(final Publisher publisher) {
        publisher.failure().ifPresent(why -> {
            throw new IllegalStateException(why);
        });
    }

    /// Claims memory for a frame, once there is room.
    ///
    /// @throws IllegalArgumentException when the window cannot hold such a frame
    public static void claim(final Publisher publisher, final long bytes, final FrameClaim claim) {
        while (mustWait(publisher, publisher.tryClaim(bytes, claim), bytes)) {
            // Awaited.
        }
    }

    /// @param code of an offer or claim
    /// @return whether it is to be tried again, after a wait for room
    public static boolean mustWait(final Publisher publisher, final long code, final long bytes) {
        if (code >= 0) {
            return false;
        }
        if (code != Publisher.BACK_PRESSURED) {
            requireOpen(publisher);
            throw new IllegalStateException("the receivers are gone");
        }
        publisher.awaitRoom(bytes, LOOK);
        return true;
    }

    /// Waits for frames, for a while.
    ///
    /// @return false at the end of the stream
    public static boolean await(final Subscriber subscriber) {
        return switch (subscriber.state()) {
            case JOINING, READY -> {
                subscriber.awaitFrame(LOOK);
                yield true;
            }
            case END_OF_STREAM -> subscriber.awaitFrame(Duration.ZERO);
            case SOURCE_LOST, FAILED, CLOSED ->
                throw new IllegalStateException(subscriber.failure().orElse("the source is gone"));
        };
    }

    /// How frames come to where the subscriber wants them. Memory that the host addresses gets them in place.
    public static String placement(final Subscriber subscriber) {
        return subscriber
                .placement()
                .map(report -> report.kind().word())
                .orElse(subscriber.device().hostAddressable() ? DeviceChoice.HOST : STAGED);
    }

    /// A source waits for the last acknowledgement: a receiver leaves the stream only when it has heard its
    /// end.
    public static void awaitEnd(final Subscriber subscriber) {
        while (await(subscriber)) {
            if (subscriber.poll() != null) {
                throw new IllegalStateException("a frame came behind the last");
            }
        }
    }
}
