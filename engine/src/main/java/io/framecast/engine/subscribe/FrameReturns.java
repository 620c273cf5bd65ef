package io.framecast.engine.subscribe;

/// Takes frames back from the subscriber's thread.
@FunctionalInterface
interface FrameReturns {
    void giveBack(EngineFrame frame);
}
