package io.framecast.samples.publish;

import io.framecast.api.FrameOptions;
import io.framecast.api.error.ConfigException;
import java.time.Duration;

/// The plan of one run of `publish`.
///
/// @param framesPerSecond 0 for as fast as credit allows
/// @param framesMax frames to publish; `Long.MAX_VALUE` for all of the input
/// @param keyframes which frames are marked
/// @param duration time from the first frame after which no frame is begun
/// @param subscribers how many must be ready before the first frame
/// @param waitMax longest wait for them, and later for any subscriber
/// @param linger longest wait for the last acknowledgements
/// @param rejoinMax longest wait for another subscriber when none is left, for any input; evicted ones
///     are then no failure. Zero: off
/// @param stopEnds whether the user's stop is the end of the stream, though more of the input would follow:
///     in a demo
public record PublishPlan(
        double framesPerSecond,
        long framesMax,
        Keyframes keyframes,
        Duration duration,
        int subscribers,
        Duration waitMax,
        Duration linger,
        Duration rejoinMax,
        boolean stopEnds) {
    /// The frames that a subscriber may begin with.
    ///
    /// @param every of so many frames the first
    /// @param options of a keyframe
    public record Keyframes(long every, FrameOptions options) {
        /// Raw frames stand alone.
        public static final Keyframes ALL = new Keyframes(1, FrameOptions.KEYFRAME);

        public Keyframes {
            if (every < 1) {
                throw new ConfigException("--keyframe-every: expected 1 or more, got " + every);
            }
        }

        /// @param frame its number in the stream, from 0
        FrameOptions of(final long frame) {
            return frame % every == 0 ? options : FrameOptions.DEFAULT;
        }
    }

    public PublishPlan {
        if (!(framesPerSecond >= 0 && framesPerSecond <= 1e6)) {
            throw new ConfigException("--rate: expected 0 … 1000000 frames per second, got " + framesPerSecond);
        }
        if (framesMax < 1) {
            throw new ConfigException("--frames: expected at least 1, got " + framesMax);
        }
        if (subscribers < 1) {
            throw new ConfigException("--wait-subscribers: expected at least 1, got " + subscribers);
        }
    }

    /// Whether subscribers that were evicted may come back.
    boolean rejoins() {
        return rejoinMax.isPositive();
    }
}
