package io.framecast.api.error;

import java.util.Objects;

/// The exceptions of Framecast: the message is one line that says how to fix it. Back-pressure and loss are
/// never exceptions.
public abstract sealed class FramecastException extends RuntimeException
        permits ConfigException, TransportException, DeviceException, CodecException {
    private static final long serialVersionUID = 1L;

    FramecastException(final String message) {
        super(message);
    }

    FramecastException(final String message, final Throwable cause) {
        super(message, cause);
    }

    /// The one line, never null.
    @Override
    public String getMessage() {
        return Objects.requireNonNullElse(super.getMessage(), getClass().getSimpleName());
    }
}
