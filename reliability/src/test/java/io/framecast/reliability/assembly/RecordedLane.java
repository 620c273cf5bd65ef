package io.framecast.reliability.assembly;

import io.framecast.reliability.lane.LanePort;
import java.util.ArrayList;
import java.util.List;

/// A lane that notes which slots were posted, and reports the arrivals that a test names.
final class RecordedLane implements LanePort {
    private final Placement placement;
    private final List<String> posts = new ArrayList<>();
    private final List<Integer> arrivals = new ArrayList<>();
    /// Slots that it accepts in one post, at most.
    int acceptsMax = Integer.MAX_VALUE;
    /// Whether slots can be redirected to the user's buffers.
    boolean redirects;
    private List<Integer> batch = List.of();

    RecordedLane(final Placement placement) {
        this.placement = placement;
    }

    /// The posts since the last call, each as `first+count`.
    List<String> takePosts() {
        final List<String> taken = List.copyOf(posts);
        posts.clear();
        return taken;
    }

    /// The next poll reports one datagram in each of these slots.
    void arrive(final Integer... slots) {
        arrivals.addAll(List.of(slots));
    }

    @Override
    public Placement placement() {
        return placement;
    }

    @Override
    public boolean canRedirect() {
        return redirects;
    }

    @Override
    public int post(final int firstSlot, final int count) {
        posts.add(firstSlot + "+" + count);
        return Math.min(count, acceptsMax);
    }

    @Override
    public int poll() {
        batch = List.copyOf(arrivals);
        arrivals.clear();
        return batch.size();
    }

    @Override
    public int batchMax() {
        return TestShape.BATCH_MAX;
    }

    @Override
    public int slot(final int index) {
        return batch.get(index);
    }

    /// Different for each slot.
    @Override
    public int bytes(final int index) {
        return 100 + batch.get(index);
    }
}
