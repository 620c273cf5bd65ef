package io.framecast.rdma.verbs;

import org.jspecify.annotations.Nullable;

/// A queue pair to make.
///
/// @param service of service
/// @param sendCompletions where sends complete
/// @param receiveCompletions where receives complete; may be the same
/// @param sharedReceives where receives come from; null for a receive queue of its own
/// @param limits sizes asked for; the device may give more
public record QueuePairConfig(
        Service service,
        CompletionQueue sendCompletions,
        CompletionQueue receiveCompletions,
        @Nullable SharedReceiveQueue sharedReceives,
        Limits limits) {
    /// Of service.
    public enum Service {
        /// Reliable connection: one peer, one-sided operations.
        RC(VerbsConstants.IBV_QPT_RC),
        /// Unreliable datagrams: any peer, and groups.
        UD(VerbsConstants.IBV_QPT_UD);

        private final int code;

        Service(final int code) {
            this.code = code;
        }

        int code() {
            return code;
        }
    }

    /// Sizes of the two queues.
    ///
    /// @param sends requests that may be outstanding
    /// @param receives requests that may be posted
    /// @param sendElements of a gather list
    /// @param receiveElements of a scatter list
    /// @param inlineBytes largest payload that a send may carry in the request itself
    public record Limits(int sends, int receives, int sendElements, int receiveElements, int inlineBytes) {}

    /// Without sharing.
    public QueuePairConfig(final Service service, final CompletionQueue completions, final Limits limits) {
        this(service, completions, completions, null, limits);
    }
}
