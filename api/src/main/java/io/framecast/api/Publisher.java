package io.framecast.api;

import io.framecast.api.format.FrameFormat;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// One source's stream of frames on a channel.
///
/// Threading: one thread at a time claims, commits, offers, lends, asks what is lent, and awaits room; another that
/// does so meanwhile gets an [IllegalStateException], and nothing is damaged. All else, and [#close], may be called
/// from any thread at any time.
///
/// Results of [#tryClaim] and [#offer] are codes, never exceptions: a positive position, or one of the
/// negative constants. Retry BACK_PRESSURED and NOT_CONNECTED after [#awaitRoom] or a short idle; give up at
/// CLOSED.
public interface Publisher extends AutoCloseable {
    /// The window is full: some subscriber has no credit, or has not acknowledged yet.
    long BACK_PRESSURED = -1;
    /// No subscriber is ready. The frame was not taken.
    long NOT_CONNECTED = -2;
    /// The publisher, its node or its transport is closed; [#failure] says why.
    long CLOSED = -3;

    Channel channel();

    /// Says what the frames are that are claimed or offered from now on, until it is called again. It costs nothing
    /// per frame. Where frames of fifteen formats are under way, the next claim or offer answers BACK_PRESSURED
    /// until those of one are acknowledged.
    ///
    /// @param format [FrameFormat#EMPTY]: nothing
    /// @throws IllegalArgumentException when it takes more than 1 KiB
    /// @throws IllegalStateException while a claim is open, or a frame is offered in parts
    default void format(final FrameFormat format) {
        throw new UnsupportedOperationException("publisher: formats are not supported");
    }

    /// Claims `bytes` bytes of the registered send window, contiguous: the frame is written in place and sent
    /// without a copy. One claim at a time; end it with [FrameClaim#commit] or [FrameClaim#abort].
    ///
    /// @param bytes 1 … min(window, frame-max)
    /// @param claim filled in when the result is positive; may be reused for every frame
    /// @return the stream position behind the frame, in bytes of frame payload since the session began, or a
    ///     code
    /// @throws IllegalArgumentException when `bytes` is out of range; the message names the channel key
    long tryClaim(long bytes, FrameClaim claim);

    /// Copies a frame into the window as credit allows. A frame longer than the window is taken in parts: the
    /// call then returns BACK_PRESSURED until the last part was taken, and must be repeated with the same
    /// arguments (the frame has begun and can no longer be given up but by [#close]).
    ///
    /// @param frame 1 … frame-max bytes
    long offer(MemorySegment frame, FrameOptions options);

    /// The device of the channel's `device=`, opened when first asked for: frames that lie in its memory are
    /// offered with [#offer(DeviceRegion, DeviceEvent, FrameOptions)]. Closed with this publisher.
    ///
    /// @throws io.framecast.api.error.FramecastException with one line that says how to fix it, when it cannot
    ///     be opened
    /// @throws IllegalStateException when this publisher is closed, also by another thread meanwhile
    default DeviceBackend device() {
        throw new UnsupportedOperationException("publisher: frames in device memory are not supported");
    }

    /// Publishes a frame that lies in the memory of [#device]: it is copied out by chunks, as credit allows, while
    /// the chunks before are sent. In memory of [#tryClaimDevice] the CPU reads a short frame, and a longer one is
    /// sent from where it lies, up to a length ([#deviceReport]). Otherwise as
    /// [#offer(MemorySegment, FrameOptions)]: must be repeated with the same arguments while it answers
    /// BACK_PRESSURED. Waits for the device's copies, never for subscribers.
    ///
    /// @param frame 1 … frame-max bytes; may be written again when the answer is positive
    /// @param written recorded behind the work that writes the frame: nothing is read before it is complete
    /// @throws io.framecast.api.error.DeviceException when the device fails. A frame that has begun cannot be
    ///     completed then: the publisher is closed, and its subscribers report the source lost
    default long offer(final DeviceRegion frame, final DeviceEvent written, final FrameOptions options) {
        throw new UnsupportedOperationException("publisher: frames in device memory are not supported");
    }

    /// Claims memory of a window on [#device], as long as [#channel]'s `window=`, for a frame that a kernel
    /// or a copy writes. Offer it with [#offer(DeviceRegion, DeviceEvent, FrameOptions)], in the order of the
    /// claims: where the NIC reads device memory the frame is sent from there, without a copy, and the memory
    /// is the publisher's again. Several may be claimed at a time.
    ///
    /// @param bytes 1 … min(window, frame-max)
    /// @return null without room: frames before it are not acknowledged yet ([#awaitRoom] waits for that), or their
    ///     claims are open; and when the publisher is closed
    /// @throws IllegalArgumentException when `bytes` is out of range; the message names the channel key
    default @Nullable DeviceRegion tryClaimDevice(final long bytes) {
        throw new UnsupportedOperationException("publisher: frames in device memory are not supported");
    }

    /// Gives a claim of [#tryClaimDevice] back that will not be offered.
    ///
    /// @throws IllegalArgumentException when it is no open claim
    default void abortDevice(final DeviceRegion claim) {
        throw new UnsupportedOperationException("publisher: frames in device memory are not supported");
    }

    /// As [#offer(DeviceRegion, DeviceEvent, FrameOptions)], of memory that the caller leaves as it is until
    /// [#isLent] is false, so that the NIC may send the frame from there and copies it nowhere (Chu et al.
    /// 2019, §4.2). Where it cannot, or the frame is longer than [DeviceSourceReport#gatherMaxBytes], the
    /// frame is copied, and not lent.
    default long lend(final DeviceRegion frame, final DeviceEvent written, final FrameOptions options) {
        return offer(frame, written, options);
    }

    /// Whether subscribers may still need a frame in a part of this memory, which was lent.
    default boolean isLent(final DeviceRegion region) {
        return false;
    }

    /// How frames in device memory are sent; empty before [#device] was first asked for.
    default Optional<DeviceSourceReport> deviceReport() {
        return Optional.empty();
    }

    /// Sleeps until a frame of this length, or the next part of the one that is being offered, may be taken,
    /// or the publisher is closed or has failed, or the time is over. The thread is woken as soon as there is
    /// room and somebody to take it. With [NodeConfig.Threading#INVOKER] it runs the agents meanwhile, unless
    /// another thread does.
    ///
    /// An interrupt ends the wait and is left standing. A thread that was interrupted before sleeps all the
    /// same, so a loop around this call does not spin.
    ///
    /// @param bytes of the frame
    /// @return whether [#tryClaim] or [#offer] is worth a try
    /// @throws IllegalStateException when another thread is using this publisher
    boolean awaitRoom(long bytes, Duration longest);

    /// Subscribers that are ready: admitted, probed, with credit.
    int readySubscribers();

    /// Subscribers that asked to join and were refused, or have not been ready for longer than a second, or whose
    /// `ring-max` is below the stream's need: one line each, with address, obstacle and how to fix it; at most
    /// 16. A subscriber that did not hear this source is absent.
    default List<String> unreadySubscribers() {
        return List.of();
    }

    /// Frames and bytes taken so far, and how often a call returned BACK_PRESSURED.
    PublisherStats stats();

    /// Why the publisher closed on its own; empty while it is open or after [#close].
    Optional<String> failure();

    /// Sends end of stream and waits until every ready subscriber acknowledged the last datagram.
    ///
    /// @param linger the longest wait, which an interrupt does not end; in invoker mode the caller's own thread
    ///     runs the agents meanwhile, unless another does
    /// @return whether all of them did
    boolean close(Duration linger);

    /// Like [#close(Duration)] with a linger of zero: end of stream is sent once, and no acknowledgement is
    /// awaited. Idempotent.
    @Override
    void close();

    /// Ends the session without end of stream: subscribers report the source lost instead of the end of the stream.
    /// For a source whose input failed. No acknowledgement is awaited. Idempotent, and without effect after
    /// [#close].
    void abandon();
}
