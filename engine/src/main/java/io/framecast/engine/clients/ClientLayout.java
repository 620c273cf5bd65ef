package io.framecast.engine.clients;

/// Places of the words and records by which a client publishes (docs/host-segment.md, "Publishing"). Numbers are
/// little-endian, words of 8 bytes lie at multiples of 8.
final class ClientLayout {
    // "FRCPUB", 1.
    static final long MAGIC = 0x0001_4255_5043_5246L;
    static final int VERSION = 1;

    // Messages.
    static final int MESSAGE_BYTES = 40;
    static final int MESSAGE_MAGIC = 0;
    static final int MESSAGE_VERSION = 8;
    static final int MESSAGE_TYPE = 12;
    static final int MESSAGE_PROCESS = 16;
    static final int MESSAGE_CODE = 16;
    static final int MESSAGE_FRAME_MAX = 24;
    static final int TYPE_PUBLISH = 3;
    static final int TYPE_ANSWER = 4;
    // Descriptors of PUBLISH.
    static final int RING = 0;
    static final int WORDS = 1;
    static final int CLIENT_WAKER = 2;
    static final int SERVER_WAKER = 3;

    // Codes of an answer.
    static final int ACCEPTED = 0;
    static final int BUSY = 1;
    static final int OTHER_VERSION = 2;
    static final int REFUSED = 3;

    // Words.
    static final int WORDS_BYTES = 4096;
    static final int RING_BYTES_AT = 16;
    static final int COMMITTED_AT = 64;
    static final int CLIENT_SLEEPS_AT = 72;
    static final int CONSUMED_AT = 128;
    static final int SERVER_SLEEPS_AT = 136;
    static final int READY_AT = 140;
    static final int STATE_AT = 144;

    // States.
    static final int OPEN = 0;
    static final int ENDED = 1;
    static final int FAILED = 2;

    // Records.
    static final int RECORD_ALIGNMENT = 64;
    static final int RECORD_BYTES = 64;
    static final int RECORD_KIND = 0;
    static final int RECORD_FLAGS = 4;
    static final int RECORD_LENGTH = 8;
    static final int RECORD_TIMESTAMP = 16;
    static final int RECORD_METADATA = 24;
    static final int FRAME = 1;
    static final int FORMAT = 2;
    static final int END = 3;
    static final int KEYFRAME = 1;

    private ClientLayout() {}

    /// Bytes of a record.
    static long recordBytes(final long length, final long metadataBytes) {
        return RECORD_BYTES + align(length) + align(metadataBytes);
    }

    static long align(final long bytes) {
        return (bytes + RECORD_ALIGNMENT - 1) / RECORD_ALIGNMENT * RECORD_ALIGNMENT;
    }
}
