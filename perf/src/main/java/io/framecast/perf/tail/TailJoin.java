package io.framecast.perf.tail;

import io.framecast.perf.table.Percentiles;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/// Joins what the processes of a stream saw by frame and by datagram.
///
/// *Lost* is what came to a diverted port: nothing is guessed. A frame that lost a datagram at one subscriber
/// is compared with the earliest of the subscribers that lost nothing of it; a datagram with itself, from
/// when it was lost at the tap to when its repair came to the same tap. A loss that no four later datagrams
/// followed within 100 µs is a tail: as in the simulator, but by when frames were committed. Datagrams lost
/// in a row count as followed when the last of them is.
final class TailJoin {
    private static final int FOLLOWERS = 4;
    private static final long SOON_NS = 100_000;

    private final TailSpec.Load load;
    private final List<Long> committedNs;
    private final List<TailLog> subscribers;
    private final List<Losses> losses = new ArrayList<>();
    private final Lists frames = new Lists();
    private final Lists datagrams = new Lists();
    private final List<Long> unrepairedNs = new ArrayList<>();
    private int behind;
    private int everywhere;
    private int unmatched;

    private TailJoin(final TailSpec.Load load, final TailLog publisher, final List<TailLog> subscribers) {
        this.load = load;
        committedNs = publisher.atNs();
        this.subscribers = subscribers;
    }

    /// How late repairs were.
    ///
    /// @param gaps of what others followed soon
    /// @param tails of what nothing followed soon
    record Late(Percentiles gaps, Percentiles tails) {}

    /// The result.
    ///
    /// @param frames that lost something at one subscriber: when they were ready there, less when at another
    /// @param datagrams when a repair came to the tap, less when the original was lost there
    /// @param unrepaired frames that lost nothing anywhere and stood behind no repair: when they were ready
    ///     at each subscriber, less when at the earliest other: what the machine adds by itself
    /// @param counts of what is in none of these
    record Result(Late frames, Late datagrams, Percentiles unrepaired, Counts counts) {}

    /// @param behind ready later than a frame before them that was repaired, having been there before: order,
    ///     not repair
    /// @param everywhere frames that every subscriber lost something of, so that none can be compared
    /// @param unmatched lost datagrams whose repair was not seen, or frames that were never ready
    record Counts(int behind, int everywhere, int unmatched) {}

    /// @param subscribers logs of all of them, by index
    static Result of(final TailSpec.Load load, final TailLog publisher, final List<TailLog> subscribers) {
        final TailJoin join = new TailJoin(load, publisher, subscribers);
        subscribers.forEach(log -> join.losses.add(join.losses(log)));
        join.joinFrames();
        for (int i = 0; i < subscribers.size(); i++) {
            join.joinDatagrams(subscribers.get(i), join.losses.get(i));
        }
        return new Result(
                join.frames.late(),
                join.datagrams.late(),
                Percentiles.of(join.unrepairedNs),
                new Counts(join.behind, join.everywhere, join.unmatched));
    }

    /// The losses of one subscriber.
    ///
    /// @param byFrame whether the frame has a tail among its losses
    /// @param bySequence the same of each datagram
    private record Losses(Map<Long, Boolean> byFrame, Map<Long, Boolean> bySequence) {}

    private static final class Lists {
        private final List<Long> gapsNs = new ArrayList<>();
        private final List<Long> tailsNs = new ArrayList<>();

        void add(final boolean tail, final long lateNs) {
            (tail ? tailsNs : gapsNs).add(lateNs);
        }

        Late late() {
            return new Late(Percentiles.of(gapsNs), Percentiles.of(tailsNs));
        }
    }

    private Losses losses(final TailLog log) {
        final Map<Long, Long> frameOf = new HashMap<>();
        log.events().stream()
                .filter(event -> event.kind() == TailLog.Kind.LOST)
                .forEach(event -> frameOf.put(event.sequence(), requireInPlace(event)));
        final long[] sequences =
                frameOf.keySet().stream().mapToLong(Long::longValue).sorted().toArray();
        final Map<Long, Boolean> byFrame = new HashMap<>();
        final Map<Long, Boolean> bySequence = new HashMap<>();
        boolean tail = false;
        for (int i = sequences.length - 1; i >= 0; i--) {
            final boolean endsRow = i == sequences.length - 1 || sequences[i + 1] != sequences[i] + 1;
            if (endsRow) {
                tail = isTail(sequences[i]);
            }
            bySequence.put(sequences[i], tail);
            byFrame.merge(frameOf.getOrDefault(sequences[i], 0L), tail, Boolean::logicalOr);
        }
        return new Losses(byFrame, bySequence);
    }

    // Every frame takes as many datagrams, so a sequence gives its frame.
    private long requireInPlace(final TailLog.Event event) {
        if (event.sequence() / load.datagramsPerFrame() != event.frame()) {
            throw new IllegalArgumentException("not of a stream of equal frames: " + event);
        }
        return event.frame();
    }

    private boolean isTail(final long sequence) {
        final long frame = sequence / load.datagramsPerFrame();
        final long follower = (sequence + FOLLOWERS) / load.datagramsPerFrame();
        return follower >= committedNs.size()
                || committedNs.get((int) follower) - committedNs.get((int) frame) > SOON_NS;
    }

    private void joinFrames() {
        // When the latest of the repaired frames before was ready, at each.
        final long[] repairedNs = new long[subscribers.size()];
        Arrays.fill(repairedNs, Long.MIN_VALUE);
        for (int frame = 0; frame < committedNs.size(); frame++) {
            final Set<Integer> losers = losers(frame);
            if (frame >= load.leadFrames()) {
                if (losers.isEmpty()) {
                    joinUnrepaired(frame, repairedNs);
                } else {
                    joinRepaired(frame, losers);
                }
            }
            for (final int loser : losers) {
                repairedNs[loser] = Math.max(repairedNs[loser], at(loser, frame));
            }
        }
    }

    private Set<Integer> losers(final long frame) {
        return IntStream.range(0, losses.size())
                .filter(i -> losses.get(i).byFrame.containsKey(frame))
                .boxed()
                .collect(Collectors.toSet());
    }

    private long at(final int subscriber, final int frame) {
        return subscribers.get(subscriber).atNs().get(frame);
    }

    private void joinRepaired(final int frame, final Set<Integer> losers) {
        final long elsewhereNs = earliest(frame, losers);
        if (elsewhereNs == Long.MAX_VALUE) {
            everywhere++;
            return;
        }
        for (final int loser : losers) {
            if (at(loser, frame) == 0) {
                unmatched++;
            } else {
                frames.add(losses.get(loser).byFrame.getOrDefault((long) frame, false), at(loser, frame) - elsewhereNs);
            }
        }
    }

    private long earliest(final int frame, final Set<Integer> excepted) {
        return IntStream.range(0, subscribers.size())
                .filter(i -> !excepted.contains(i) && at(i, frame) != 0)
                .mapToLong(i -> at(i, frame))
                .min()
                .orElse(Long.MAX_VALUE);
    }

    private void joinUnrepaired(final int frame, final long[] repairedNs) {
        final long firstNs = earliest(frame, Set.of());
        if (LongStream.of(repairedNs).anyMatch(atNs -> atNs >= firstNs)) {
            behind++;
            return;
        }
        for (int i = 0; i < subscribers.size(); i++) {
            final long elsewhereNs = earliest(frame, Set.of(i));
            if (at(i, frame) == 0 || elsewhereNs == Long.MAX_VALUE) {
                unmatched++;
            } else {
                unrepairedNs.add(at(i, frame) - elsewhereNs);
            }
        }
    }

    private void joinDatagrams(final TailLog log, final Losses lost) {
        final Map<Long, Long> lostNs = new HashMap<>();
        final Map<Long, List<Long>> repairsNs = new HashMap<>();
        final Map<Long, Integer> lostRepairs = new HashMap<>();
        for (final TailLog.Event event : log.events()) {
            if (lost.bySequence.containsKey(event.sequence())) {
                switch (event.kind()) {
                    case LOST -> lostNs.merge(event.sequence(), event.timeNs(), Math::min);
                    case REPAIR ->
                        repairsNs
                                .computeIfAbsent(event.sequence(), _ -> new ArrayList<>())
                                .add(event.timeNs());
                    case LOST_REPAIR -> lostRepairs.merge(event.sequence(), 1, Integer::sum);
                }
            }
        }
        final long firstSequence = (long) load.leadFrames() * load.datagramsPerFrame();
        lostNs.forEach((sequence, atNs) -> {
            if (sequence >= firstSequence) {
                // The listener hears repairs before they are lost: so many of them came to nothing.
                final int passed = lostRepairs.getOrDefault(sequence, 0);
                final List<Long> repairs = repairsNs.getOrDefault(sequence, List.of()).stream()
                        .sorted()
                        .toList();
                if (repairs.size() > passed) {
                    datagrams.add(lost.bySequence.getOrDefault(sequence, false), repairs.get(passed) - atNs);
                } else {
                    unmatched++;
                }
            }
        });
    }
}
