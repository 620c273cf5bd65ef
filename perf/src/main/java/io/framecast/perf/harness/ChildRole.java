package io.framecast.perf.harness;

import java.util.List;

/// A process of a bench, from its own side. A role is public and has a public constructor without parameters.
public interface ChildRole {
    /// First word of a source of measured streams.
    String PUBLISH = "publish";
    /// First word of a receiver of measured streams.
    String SUBSCRIBE = "subscribe";

    /// Runs until the parent has no more orders.
    ///
    /// @param words of the command line
    /// @return the exit status
    int run(List<String> words, ParentLink parent);
}
