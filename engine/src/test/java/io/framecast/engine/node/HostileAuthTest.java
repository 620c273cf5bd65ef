package io.framecast.engine.node;

/// [HostileStream] with keys.
final class HostileAuthTest extends HostileStream {
    HostileAuthTest() {
        super(true);
    }
}
