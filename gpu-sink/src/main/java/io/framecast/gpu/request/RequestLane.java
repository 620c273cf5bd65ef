package io.framecast.gpu.request;

import io.framecast.api.FrameClaim;
import io.framecast.api.FrameOptions;
import io.framecast.api.Publisher;
import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceStream;
import java.util.function.ObjIntConsumer;

/// The requests for one publisher, in order, one at a time: claim, copy out of the device into the claim, commit. A
/// publisher without room delays only its own requests.
final class RequestLane {
    static final int KEYFRAME = 1;

    private final Publisher publisher;
    private final long frameMaxBytes;
    private final DeviceStream stream;
    private final DeviceEvent copied;
    private final FrameClaim claim = new FrameClaim();
    private final ObjIntConsumer<Request> answers;

    // A ring of requests that are not answered yet, the oldest being copied perhaps.
    private final Request[] waiting;
    private int first;
    private int size;
    private boolean copying;
    private FrameOptions options = FrameOptions.DEFAULT;
    private int optionsFlags;
    private int optionsTag;

    RequestLane(
            final DeviceBackend device,
            final Publisher publisher,
            final long frameMaxBytes,
            final int requestsMax,
            final ObjIntConsumer<Request> answers) {
        this.publisher = publisher;
        this.frameMaxBytes = frameMaxBytes;
        this.answers = answers;
        stream = device.openStream();
        try {
            copied = device.openEvent();
        } catch (final RuntimeException e) {
            stream.close();
            throw e;
        }
        waiting = new Request[requestsMax];
        for (int i = 0; i < requestsMax; i++) {
            waiting[i] = new Request();
        }
    }

    boolean takes(final long bytes) {
        return bytes > 0 && bytes <= frameMaxBytes;
    }

    /// A request that was checked; there is room for as many as the queue holds.
    void add(final Request request) {
        waiting[(first + size++) % waiting.length].copy(request);
    }

    /// @return steps done
    int work() {
        if (size == 0) {
            return 0;
        }
        if (copying) {
            if (!copied.isComplete()) {
                return 0;
            }
            copying = false;
            final boolean taken = claim.commit(options(waiting[first]));
            answer(taken ? RequestLayout.STATUS_DONE : RequestLayout.STATUS_CLOSED);
            return 1;
        }
        return start(waiting[first]);
    }

    private int start(final Request request) {
        final long position;
        try {
            position = publisher.tryClaim(request.length, claim);
        } catch (final IllegalArgumentException _) {
            // Longer than this publisher's window or frame-max, though shorter than announced when it was bound.
            answer(RequestLayout.STATUS_REFUSED);
            return 1;
        }
        if (position == Publisher.CLOSED) {
            answer(RequestLayout.STATUS_CLOSED);
            return 1;
        }
        if (position <= 0) {
            return 0;
        }
        try {
            stream.copyToHost(claim.segment(), 0, request.address, request.length);
            stream.record(copied);
        } catch (final DeviceException e) {
            claim.abort();
            answer(RequestLayout.STATUS_CLOSED);
            throw e;
        }
        copying = true;
        return 1;
    }

    private void answer(final int status) {
        final Request done = waiting[first];
        first = (first + 1) % waiting.length;
        size--;
        answers.accept(done, status);
    }

    // Kept while they do not change: a frame without a tag allocates nothing.
    private FrameOptions options(final Request request) {
        final boolean keyframe = (request.flags & KEYFRAME) != 0;
        final boolean tagged = (request.flags & RequestLayout.REQUEST_TAGGED) != 0;
        if (request.timestampNs != 0) {
            return made(keyframe, tagged, request.tag).withSourceTimestampNs(request.timestampNs);
        }
        if (!tagged) {
            return keyframe ? FrameOptions.KEYFRAME : FrameOptions.DEFAULT;
        }
        if (optionsFlags != request.flags || optionsTag != request.tag) {
            options = made(keyframe, true, request.tag);
            optionsFlags = request.flags;
            optionsTag = request.tag;
        }
        return options;
    }

    private static FrameOptions made(final boolean keyframe, final boolean tagged, final int tag) {
        final byte[] metadata = tagged
                ? new byte[] {(byte) tag, (byte) (tag >> 8), (byte) (tag >> 16), (byte) (tag >> 24)}
                : new byte[0];
        return new FrameOptions(keyframe, FrameOptions.NOW, metadata);
    }

    /// Answers everything that waits, and gives the claim back, also where the device is lost.
    void close() {
        try {
            if (copying) {
                stream.synchronize();
            }
        } finally {
            if (copying) {
                copying = false;
                claim.abort();
            }
            while (size > 0) {
                answer(RequestLayout.STATUS_CLOSED);
            }
            try {
                copied.close();
            } finally {
                stream.close();
            }
        }
    }
}
