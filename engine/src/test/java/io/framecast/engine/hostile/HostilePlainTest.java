package io.framecast.engine.hostile;

/// [HostileStream] without keys.
final class HostilePlainTest extends HostileStream {
    HostilePlainTest() {
        super(false);
    }
}
