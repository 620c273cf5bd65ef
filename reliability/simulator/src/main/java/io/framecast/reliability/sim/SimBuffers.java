package io.framecast.reliability.sim;

import io.framecast.reliability.assembly.BufferQueue;
import io.framecast.reliability.sim.net.SimReceiveLane;
import io.framecast.reliability.sim.plan.Plant;
import java.util.SplittableRandom;

/// The buffers that the user of one membership posts. Its thread is another than the receiver's: in restless runs
/// a buffer is there at any moment at which the receiver looks for one, also between the datagrams of one poll.
final class SimBuffers implements BufferQueue {
    // Of that many looks at the queue, one finds the buffer that the user is about to post.
    private static final int LOOKS = 8;
    private static final long NO_POST = -1;

    private final SimFrameMemory memory;
    private final SimReceiveLane lane;
    private final SplittableRandom random;
    private final boolean restless;
    // About to be posted; posted; taken so far.
    private int due;
    private int posted;
    private int taken;
    // Posts of the lane by the time of the first buffer.
    private long lanePosts = NO_POST;

    /// @param lane the data lane
    /// @param id of the membership
    SimBuffers(final SimReceiver process, final SimFrameMemory memory, final SimReceiveLane lane, final long id) {
        this.memory = memory;
        this.lane = lane;
        // Its own, so that looks change nothing else.
        random = new SplittableRandom(id);
        restless = !process.world().options().faults().isNone();
        if (process.world().plant() == Plant.POST_BEHIND_POLL) {
            memory.forgetWhile(() -> lanePosts == lane.posts());
        }
    }

    /// The user posts one more buffer, soon or at once.
    void post() {
        due++;
        if (!restless) {
            look();
        }
    }

    private void look() {
        if (due > 0 && (!restless || random.nextInt(LOOKS) == 0)) {
            due--;
            posted++;
            lanePosts = lanePosts == NO_POST ? lane.posts() : lanePosts;
        }
    }

    @Override
    public int buffers() {
        look();
        return posted;
    }

    @Override
    public int take(final long bytes) {
        look();
        final int number = taken % TAKEN_MAX;
        if (posted == 0 || memory.isPosted(number)) {
            return NONE;
        }
        posted--;
        taken++;
        memory.post(number, bytes);
        return number;
    }

    @Override
    public long bytes(final int number) {
        return memory.posted(number).byteSize();
    }

    @Override
    public void giveBack(final int number) {
        memory.unpost(number);
        posted++;
    }
}
