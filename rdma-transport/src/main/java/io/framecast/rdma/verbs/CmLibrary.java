package io.framecast.rdma.verbs;

import io.framecast.api.error.TransportException;

/// A loaded librdmacm: asks an InfiniBand subnet manager for multicast groups. Only where there is one is it
/// needed; RoCE does without. It stays loaded for the life of the process.
///
/// Immutable; any thread.
public final class CmLibrary {
    /// System property that names another library to load, by path.
    public static final String PROPERTY = "framecast.rdmacm.library";

    private static final String DEFAULT = "librdmacm.so.1";

    private static final String FUNCTIONS = """
            rdma_create_event_channel rdma_destroy_event_channel rdma_create_id rdma_destroy_id rdma_bind_addr
            rdma_join_multicast rdma_leave_multicast rdma_get_cm_event rdma_ack_cm_event
            """;

    private final Verbs verbs;

    private CmLibrary(final String library) {
        verbs = new Verbs(
                library,
                "librdmacm",
                ", which InfiniBand's groups need; install librdmacm1 (Debian, Ubuntu) or librdmacm (Fedora, RHEL)",
                FUNCTIONS);
    }

    Verbs verbs() {
        return verbs;
    }

    /// Loads the library of the system property [#PROPERTY], else the system's.
    ///
    /// @throws TransportException when there is none; the message names the package
    public static CmLibrary load() {
        return load(System.getProperty(PROPERTY, DEFAULT));
    }

    /// @param library name or path
    public static CmLibrary load(final String library) {
        return new CmLibrary(library);
    }
}
