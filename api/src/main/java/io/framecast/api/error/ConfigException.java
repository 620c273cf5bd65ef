package io.framecast.api.error;

/// A setting that cannot work: unknown channel key, bad number, ring too small, port in use. The user fixes it
/// before a restart.
public final class ConfigException extends FramecastException {
    private static final long serialVersionUID = 1L;

    public ConfigException(final String message) {
        super(message);
    }

    public ConfigException(final String message, final Throwable cause) {
        super(message, cause);
    }
}
