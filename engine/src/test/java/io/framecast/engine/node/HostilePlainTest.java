package io.framecast.engine.node;

/// [HostileStream] without keys.
final class HostilePlainTest extends HostileStream {
    HostilePlainTest() {
        super(false);
    }
}
