package io.framecast.api.error;

/// A GPU call that failed, or a device that cannot be opened. The device is closed; other devices are unharmed.
public final class DeviceException extends FramecastException {
    private static final long serialVersionUID = 1L;

    public DeviceException(final String message) {
        super(message);
    }

    public DeviceException(final String message, final Throwable cause) {
        super(message, cause);
    }
}
