package io.framecast.engine.subscribe;

import io.framecast.engine.sink.ReceiveMemory;
import io.framecast.engine.subscribe.PostedBuffers.Posted;
import io.framecast.reliability.assembly.BufferQueue;
import io.framecast.reliability.assembly.PostedOffset;
import java.util.ArrayDeque;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The user's buffers that one session has taken for frames to come, by number. One that is not filled goes back
/// to the others once no copy of this session can write it any more. Receiver's thread.
final class PostedTargets implements BufferQueue {
    private record Settling(Posted buffer, long copies) {}

    private final PostedBuffers posted;
    private final ReceiveMemory memory;
    private final @Nullable Posted[] taken = new Posted[TAKEN_MAX];
    private final ArrayDeque<Settling> settling = new ArrayDeque<>();
    // The next number to look at.
    private int next;

    PostedTargets(final PostedBuffers posted, final ReceiveMemory memory) {
        this.posted = posted;
        this.memory = memory;
    }

    @Override
    public int buffers() {
        return posted.size();
    }

    @Override
    public int take(final long bytes) {
        final int number = free();
        final Posted buffer = number == NONE ? null : posted.take(bytes);
        if (buffer == null) {
            return NONE;
        }
        taken[number] = buffer;
        memory.post(number, buffer.region());
        next = (number + 1) % taken.length;
        return number;
    }

    private int free() {
        for (int i = 0; i < taken.length; i++) {
            final int number = (next + i) % taken.length;
            if (taken[number] == null) {
                return number;
            }
        }
        return NONE;
    }

    @Override
    public long bytes(final int number) {
        return of(number).region().bytes();
    }

    @Override
    public boolean isGone(final int number) {
        final Posted buffer = taken[number];
        if (buffer == null) {
            // An earlier copy of the same batch failed as well.
            return true;
        }
        if (buffer.isAlive()) {
            return false;
        }
        remove(number).release();
        return true;
    }

    /// The buffer at an offset of the posted space, which holds a frame from now on.
    Posted handOver(final long offset) {
        return remove(PostedOffset.number(offset));
    }

    private Posted of(final int number) {
        return Objects.requireNonNull(taken[number]);
    }

    private Posted remove(final int number) {
        final Posted buffer = of(number);
        taken[number] = null;
        return buffer;
    }

    @Override
    public void giveBack(final int number) {
        giveBack(remove(number));
    }

    /// A buffer whose frame the user never received.
    void giveBack(final Posted buffer) {
        settling.add(new Settling(buffer, memory.submitted()));
        settle();
    }

    /// Gives back buffers whose copies have ended.
    void settle() {
        while (!settling.isEmpty() && settling.element().copies <= memory.completed()) {
            posted.giveBack(settling.remove().buffer);
        }
    }

    /// The memory is closed, and with it no copy is under way.
    void close() {
        settling.forEach(one -> posted.giveBack(one.buffer));
        settling.clear();
    }
}
