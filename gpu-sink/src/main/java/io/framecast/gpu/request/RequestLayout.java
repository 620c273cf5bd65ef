package io.framecast.gpu.request;

/// The request queue in memory; the same names with `FC_` before them are in `framecast.cuh`.
///
/// ```
/// header [REQUEST_HEADER_BYTES] · requests [n][REQUEST_BYTES] · answers [n][ANSWER_BYTES]
/// ```
///
/// A kernel draws ticket t from a counter in device memory and waits until slot t mod n has the answer to
/// ticket t − n. It then writes the request, and last, with release order, its sequence t + 1. The host
/// answers with one word: t + 1 in the low 32 bits, the status above.
public final class RequestLayout {
    static final int REQUEST_HEADER_BYTES = 256;
    static final int REQUESTS_OFFSET = 4;
    // Address of the counter.
    static final int TICKETS_OFFSET = 8;
    static final int REQUEST_STOP_OFFSET = 128;

    static final int REQUEST_BYTES = 64;
    static final int REQUEST_ADDRESS = 8;
    static final int REQUEST_LENGTH = 16;
    // When the frame was taken; 0: now.
    static final int REQUEST_TIMESTAMP = 24;
    static final int REQUEST_CHANNEL = 32;
    static final int REQUEST_FLAGS = 36;
    static final int REQUEST_TAG = 40;
    static final int ANSWER_BYTES = 16;

    /// A flag: the request has a tag, which travels as the frame's metadata.
    public static final int REQUEST_TAGGED = 2;

    /// Published.
    public static final int STATUS_DONE = 1;
    /// Unknown channel, memory that is not allowed, or an impossible length.
    public static final int STATUS_REFUSED = 2;
    /// The publisher or the queue is closed.
    public static final int STATUS_CLOSED = 3;
    /// Answered, but so long ago that the answer is gone.
    public static final int STATUS_FORGOTTEN = 4;

    private RequestLayout() {}

    static long queueBytes(final int requests) {
        return REQUEST_HEADER_BYTES + (long) requests * (REQUEST_BYTES + ANSWER_BYTES);
    }

    static long requestOffset(final int slot) {
        return REQUEST_HEADER_BYTES + (long) slot * REQUEST_BYTES;
    }

    static long answerOffset(final int requests, final int slot) {
        return REQUEST_HEADER_BYTES + (long) requests * REQUEST_BYTES + (long) slot * ANSWER_BYTES;
    }

    static long answer(final int sequence, final int status) {
        return Integer.toUnsignedLong(sequence) | (long) status << 32;
    }
}
