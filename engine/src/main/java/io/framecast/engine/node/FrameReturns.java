package io.framecast.engine.node;

/// Takes frames back from the subscriber's thread.
@FunctionalInterface
interface FrameReturns {
    void giveBack(EngineFrame frame);
}
