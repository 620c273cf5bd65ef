package io.framecast.api;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// One subscription of a channel, whose frames land in the memory of one device. Poll model: nothing runs on
/// a thread of the subscriber's own.
///
/// Threading: one thread at a time polls, awaits frames and posts; another that does so meanwhile gets an
/// [IllegalStateException], and nothing is damaged. All else, and [#close], may be called from any thread at
/// any time; frames may be released by any thread.
public interface Subscriber extends AutoCloseable {
    /// Where a subscription stands.
    enum State {
        /// No source heard yet, or the handshake is under way, or the source heard last refused, did not
        /// answer or asked for more memory than there is: [#failure] then says so, and this subscriber
        /// listens on. Also after a source was lost, while it is waited for (`rejoin=`).
        JOINING,
        /// Receiving, from one source at least.
        READY,
        /// The source said this was the last frame, and every frame up to it was given to [#poll]. With
        /// `sources=` more than one, the subscriber reports the end of a source ([#onSource]) and listens for
        /// others: this state is never reached.
        END_OF_STREAM,
        /// The source fell silent for longer than alive-timeout, evicted this subscriber, or does not hold any
        /// more the data that this subscriber lacks, though it waits for it; [#failure] says which, and what to
        /// do. Under `delivery=evict=T` an eviction is for holding the source back longer than T.
        /// With `rejoin=`, it did not come back in time. Never with `sources=` more than one.
        SOURCE_LOST,
        /// This subscriber's own `ring=` is too small or too large, or its device or transport failed;
        /// [#failure] says why.
        FAILED,
        CLOSED
    }

    Channel channel();

    /// The device that frames land in: streams and kernels for consuming them are made here.
    DeviceBackend device();

    State state();

    /// Why the state is SOURCE_LOST or FAILED, or why it is still JOINING though a source was heard, in one
    /// line.
    Optional<String> failure();

    /// Hands over the frames that have arrived, each source's in its publishing order, sources by turns; the
    /// handler owns each and must close or release it, now or later.
    ///
    /// @param limit most frames to hand over
    /// @return how many were
    int poll(FrameHandler handler, int limit);

    /// The next frame, or null when none has arrived, or those that have were given up. The caller owns it.
    @Nullable
    DeviceFrame poll();

    /// Sleeps until a frame has arrived, or there is something else to report, or the state says that none will
    /// come any more, or the time is over. Instead of polling in a loop; the thread is woken as soon as there
    /// is something to poll. With [NodeConfig.Threading#INVOKER] it runs the agents meanwhile, unless another
    /// thread does.
    ///
    /// An interrupt ends the wait and is left standing. A thread that was interrupted before sleeps all the
    /// same, so a loop around this call does not spin.
    ///
    /// @return whether [#poll] has a frame to give, or lost frames or a source to report
    /// @throws IllegalStateException when another thread is using this subscriber
    boolean awaitFrame(Duration longest);

    /// Has lost frames reported to a handler. It is called by [#poll] only, on that caller's thread, in the
    /// stream's order: frames that were lost before a frame are reported before that frame is given, and those
    /// behind the last one before the state says that the stream is over. So every frame number of a session from
    /// the first one of the first membership in it ([SourceEvent#firstFrameId]) is either given or reported, once;
    /// also those published between two memberships ([LossReason#NOT_A_MEMBER]), as soon as the second has begun.
    /// Of a session that is not joined again, the number of further frames is unknown. Neighbours may be reported
    /// together; where the caller has not polled for so long that more than a thousand runs of different reasons
    /// wait, those with the reason of the newest.
    ///
    /// Under `delivery=reliable` and `evict` a member loses nothing but [LossReason#DAMAGED] frames, and those
    /// known to have begun when its source was lost or evicted it ([LossReason#UNREPAIRABLE]).
    ///
    /// @param handler must not call this subscriber; replaces the one before
    void onLoss(LossHandler handler);

    /// Has sources that come and go reported to a handler. It is called by [#poll] only, on that caller's
    /// thread: that a session was joined before its first frame, that it ended or was lost behind its last.
    ///
    /// @param handler must not call this subscriber; replaces the one before
    void onSource(SourceHandler handler);

    /// Posts a buffer of the caller's for the next frame to arrive, whichever source it is from;
    /// [DeviceFrame#region] is then that buffer (Chu et al. 2019, §4.2, Algorithm 1). Closing the frame gives the
    /// buffer back to its owner.
    ///
    /// A frame takes the next buffer when its first datagram arrives: buffers are used in the order of posting,
    /// but for frames whose datagrams overtake each other. Where frames are staged, each datagram is then copied
    /// to the buffer itself; into host memory over `udp` and `aeron` it is received there, and over `verbs` where
    /// frames have one length and more buffers are posted than frames fit the ring. Else, and where no buffer was
    /// posted yet, the frame arrives in the ring of its session and goes to the next buffer by one copy within the
    /// device. So do frames that were sent together in one datagram.
    ///
    /// A buffer whose frame is lost serves another. Its memory must live until the frame in it is closed or, where
    /// there is none, until [#isPosted] is false, which it becomes soon after [#close]: the kernel, a NIC or a copy
    /// engine may write it until then. A frame whose buffer's arena was found closed is lost
    /// ([LossReason#DAMAGED]).
    ///
    /// @param region memory of [#device] that every thread may write, at least frame-max long (the source's,
    ///     once one is heard; before that the channel's), and no part of a buffer that [#isPosted]
    /// @return false when as many buffers are posted as the queue holds, or no frame will come any more
    /// @throws IllegalArgumentException when it is not such memory; the message says what was expected
    /// @throws IllegalStateException when another thread is using this subscriber
    boolean post(DeviceRegion region);

    /// Whether a part of this memory is posted, or holds a frame that is not released.
    ///
    /// @throws IllegalStateException when another thread is using this subscriber
    default boolean isPosted(final DeviceRegion region) {
        return false;
    }

    /// The placement of payloads in the device's memory.
    ///
    /// @return empty before the first session is joined, and where frames land in host memory
    default Optional<PlacementReport> placement() {
        return Optional.empty();
    }

    SubscriberStats stats();

    /// Leaves the channel. Frames still held stay readable until they are closed. Idempotent.
    @Override
    void close();
}
