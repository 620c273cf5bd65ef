package io.framecast.perf.chaos;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// What one process said of the stream, and when. Written by the thread that reads its lines, read by the
/// run's.
final class StreamLog {
    static final long NONE = -1;

    private final List<Gap> gaps = new ArrayList<>();
    private final List<String> wrong = new ArrayList<>();
    private final List<Memory> memory = new ArrayList<>();
    private long firstId = NONE;
    private long lastId = NONE;
    private long frames;
    private long joinedNs = NONE;
    private long lastNs = NONE;
    private long shouted;
    private boolean ended;
    private Optional<String> over = Optional.empty();

    /// A pause between two frames.
    record Gap(long fromNs, long toNs) {
        boolean meets(final long beginNs, final long endNs) {
            return fromNs < endNs && toNs > beginNs;
        }
    }

    /// What a process holds.
    ///
    /// @param heapBytes after collections
    /// @param descriptors open files and sockets
    record Memory(long heapBytes, long residentBytes, long descriptors) {}

    /// Takes a line.
    ///
    /// @return false when it is none of [ChildLines]
    synchronized boolean onLine(final String line) {
        final String[] words = line.split(" ", 2);
        final String rest = words.length < 2 ? "" : words[1];
        switch (words[0]) {
            case ChildLines.JOINED -> {
                firstId = numbers(rest)[0];
                joinedNs = numbers(rest)[1];
                lastNs = joinedNs;
            }
            case ChildLines.GAP -> {
                gaps.add(new Gap(numbers(rest)[0], numbers(rest)[1]));
                lastNs = Math.max(lastNs, numbers(rest)[1]);
            }
            case ChildLines.PROGRESS -> {
                lastId = numbers(rest)[0];
                frames = numbers(rest)[1];
                lastNs = Math.max(lastNs, numbers(rest)[2]);
            }
            case ChildLines.WRONG -> wrong.add(rest);
            case ChildLines.END -> {
                lastId = numbers(rest)[0];
                frames = numbers(rest)[1];
                ended = true;
            }
            case ChildLines.SHOUTED -> shouted += numbers(rest)[0];
            case ChildLines.OVER -> over = Optional.of(rest);
            case ChildLines.MEMORY -> memory.add(new Memory(numbers(rest)[0], numbers(rest)[1], numbers(rest)[2]));
            default -> {
                return false;
            }
        }
        return true;
    }

    private static long[] numbers(final String text) {
        return java.util.Arrays.stream(text.split(" ", -1))
                .mapToLong(Long::parseLong)
                .toArray();
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

    /// When the newest frame that it has told of came.
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
    synchronized long shouted() {
        return shouted;
    }

    synchronized List<String> wrong() {
        return List.copyOf(wrong);
    }

    synchronized List<Memory> memory() {
        return List.copyOf(memory);
    }

    /// The longest pause that meets a span of time, the one that still lasts at its end included.
    synchronized long longestGapNs(final long beginNs, final long endNs) {
        long longest = 0;
        for (final Gap gap : gaps) {
            if (gap.meets(beginNs, endNs)) {
                longest = Math.max(longest, gap.toNs() - gap.fromNs());
            }
        }
        // Frames younger than the last line are not told yet.
        final boolean silent = lastNs != NONE && endNs - lastNs > 2 * ChildLines.PROGRESS_NS;
        return silent ? Math.max(longest, endNs - lastNs) : longest;
    }
}
