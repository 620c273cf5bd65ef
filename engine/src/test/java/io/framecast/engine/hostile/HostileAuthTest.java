package io.framecast.engine.hostile;

/// [HostileStream] with keys.
final class HostileAuthTest extends HostileStream {
    HostileAuthTest() {
        super(true);
    }
}
