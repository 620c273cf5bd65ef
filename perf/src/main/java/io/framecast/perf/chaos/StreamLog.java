package io.framecast.perf.chaos;

import io.framecast.perf.harness.Child;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// The events of one process. The thread that reads the process's lines writes this log, the run's thread
/// reads it.
final class StreamLog {
    /// Kind of line: `frame time` of the first frame.
    static final String JOINED = "joined";
    /// `from to`: no frame for long.
    static final String GAP = "gap";
    /// `last-frame frames time`
    static final String PROGRESS = "progress";
    /// A text.
    static final String WRONG = "wrong";
    /// `last-frame frames`: of a subscriber, end of stream; of a publisher, every subscriber acknowledged.
    static final String END = "end";
    /// A text: the process ended otherwise.
    static final String OVER = "over";
    /// `frames`: they were reported lost, as they may be.
    static final String LOST = "lost";
    /// `heap rss descriptors`
    static final String MEMORY = "memory";
    /// `datagrams real`: garbage was sent; `real` datagrams of the stream were there to change.
    static final String ATTACKED = "garbage";

    static final long NONE = -1;

    private final List<long[]> gaps = new ArrayList<>();
    private final List<String> wrong = new ArrayList<>();
    private final List<Memory> memory = new ArrayList<>();
    private long firstId = NONE;
    private long lastId = NONE;
    private long frames;
    private long joinedNs = NONE;
    private long lastNs = NONE;
    private long garbage;
    private long lost;
    private boolean ended;
    private Optional<String> over = Optional.empty();

    /// The memory of a process.
    ///
    /// @param heapBytes after collections
    /// @param descriptors open files and sockets
    record Memory(long heapBytes, long residentBytes, long descriptors) {}

    synchronized void onLine(final String kind, final String text) {
        switch (kind) {
            case WRONG -> wrong.add(text);
            case OVER -> over = Optional.of(text);
            case Child.ENDED -> {
                // Its place finds out.
            }
            default ->
                onNumbers(
                        kind,
                        Stream.of(text.split(" ", -1))
                                .mapToLong(Long::parseLong)
                                .toArray());
        }
    }

    private void onNumbers(final String kind, final long[] numbers) {
        switch (kind) {
            case JOINED -> {
                firstId = numbers[0];
                joinedNs = numbers[1];
                lastNs = joinedNs;
            }
            case GAP -> {
                gaps.add(numbers);
                lastNs = Math.max(lastNs, numbers[1]);
            }
            case PROGRESS -> {
                lastId = numbers[0];
                frames = numbers[1];
                lastNs = Math.max(lastNs, numbers[2]);
            }
            case END -> {
                lastId = numbers[0];
                frames = numbers[1];
                ended = true;
            }
            case LOST -> lost += numbers[0];
            case ATTACKED -> garbage += numbers[0];
            case MEMORY -> memory.add(new Memory(numbers[0], numbers[1], numbers[2]));
            default -> wrong.add("unknown line: " + kind);
        }
    }

    synchronized long firstId() {
        return firstId;
    }

    synchronized long lastId() {
        return lastId;
    }

    /// How many frames its check has seen.
    synchronized long frames() {
        return frames;
    }

    /// When its first frame came; −1 before that.
    synchronized long joinedNs() {
        return joinedNs;
    }

    /// When the newest frame that it has reported came.
    synchronized long lastNs() {
        return lastNs;
    }

    synchronized boolean isEnded() {
        return ended;
    }

    /// Why it ended otherwise than by end of stream.
    synchronized Optional<String> over() {
        return over;
    }

    /// Datagrams of garbage that it sent.
    synchronized long garbage() {
        return garbage;
    }

    /// Frames that were reported lost, and might be.
    synchronized long lost() {
        return lost;
    }

    synchronized List<String> wrong() {
        return List.copyOf(wrong);
    }

    synchronized List<Memory> memory() {
        return List.copyOf(memory);
    }

    /// The longest pause that meets a span of time, the one that still lasts at its end included.
    synchronized long longestGapNs(final long beginNs, final long endNs) {
        final long longest = gaps.stream()
                .filter(gap -> gap[0] < endNs && gap[1] > beginNs)
                .mapToLong(gap -> gap[1] - gap[0])
                .max()
                .orElse(0);
        // Frames younger than the last line are not reported yet.
        final boolean silent = lastNs != NONE && endNs - lastNs > 2 * ChaosRole.PROGRESS_NS;
        return silent ? Math.max(longest, endNs - lastNs) : longest;
    }
}
