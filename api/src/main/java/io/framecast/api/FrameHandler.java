package io.framecast.api;

/// Takes ownership of frames.
@FunctionalInterface
public interface FrameHandler {
    void onFrame(DeviceFrame frame);
}
