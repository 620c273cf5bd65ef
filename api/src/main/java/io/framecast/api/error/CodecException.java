package io.framecast.api.error;

/// Metadata that is not a registered record, is too long, or does not decode. Hostile bytes end here and nowhere else.
public final class CodecException extends FramecastException {
    private static final long serialVersionUID = 1L;

    public CodecException(final String message) {
        super(message);
    }

    public CodecException(final String message, final Throwable cause) {
        super(message, cause);
    }
}
