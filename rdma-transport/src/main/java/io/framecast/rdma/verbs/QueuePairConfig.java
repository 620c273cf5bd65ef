package io.framecast.rdma.verbs;

/// A queue pair to make.
///
/// @param service of service
/// @param sendCompletions where sends complete
/// @param receiveCompletions where receives complete; may be the same
/// @param limits sizes asked for; the device may give more
public record QueuePairConfig(
        Service service, CompletionQueue sendCompletions, CompletionQueue receiveCompletions, Limits limits) {
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

    /// With one queue for both.
    public QueuePairConfig(final Service service, final CompletionQueue completions, final Limits limits) {
        this(service, completions, completions, limits);
    }
}
