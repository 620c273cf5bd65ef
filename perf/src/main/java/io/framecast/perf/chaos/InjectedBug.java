package io.framecast.perf.chaos;

/// Something broken on purpose, to see that the run finds it.
enum InjectedBug {
    NONE,
    /// A subscriber does not show one frame to its check.
    SKIP,
    /// A subscriber shows one frame to its check twice.
    TWICE,
    /// A subscriber changes one byte of a frame before its check sees it.
    FLIP,
    /// A process that is to be killed is not.
    SPARE
}
