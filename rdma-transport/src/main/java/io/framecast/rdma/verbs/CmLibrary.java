package io.framecast.rdma.verbs;

import io.framecast.api.error.TransportException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;

/// A loaded librdmacm: asks an InfiniBand subnet manager for multicast groups. Only where there is one is it
/// needed; RoCE does without. It stays loaded for the life of the process.
///
/// Immutable; any thread.
public final class CmLibrary {
    /// System property that names another library to load, by path.
    public static final String PROPERTY = "framecast.rdmacm.library";

    private static final String DEFAULT = "librdmacm.so.1";

    private final SymbolLookup symbols;

    final MemorySegment createEventChannel;
    final MemorySegment destroyEventChannel;
    final MemorySegment createId;
    final MemorySegment destroyId;
    final MemorySegment bindAddr;
    final MemorySegment joinMulticast;
    final MemorySegment leaveMulticast;
    final MemorySegment getCmEvent;
    final MemorySegment ackCmEvent;

    private CmLibrary(final String library) {
        symbols = SymbolLookup.libraryLookup(library, Arena.global());
        createEventChannel = find("rdma_create_event_channel");
        destroyEventChannel = find("rdma_destroy_event_channel");
        createId = find("rdma_create_id");
        destroyId = find("rdma_destroy_id");
        bindAddr = find("rdma_bind_addr");
        joinMulticast = find("rdma_join_multicast");
        leaveMulticast = find("rdma_leave_multicast");
        getCmEvent = find("rdma_get_cm_event");
        ackCmEvent = find("rdma_ack_cm_event");
    }

    private MemorySegment find(final String function) {
        return symbols.find(function)
                .orElseThrow(() -> new TransportException(
                        "verbs: the library lacks " + function + "; install librdmacm of rdma-core 44 or newer"));
    }

    /// Loads the library of the system property [#PROPERTY], else the system's.
    ///
    /// @throws TransportException when there is none; the message names the package
    public static CmLibrary load() {
        return load(System.getProperty(PROPERTY, DEFAULT));
    }

    /// @param library name or path
    public static CmLibrary load(final String library) {
        try {
            return new CmLibrary(library);
        } catch (final IllegalArgumentException e) {
            throw new TransportException(
                    "verbs: no " + library + " on this machine, which InfiniBand's groups need; install librdmacm1"
                            + " (Debian, Ubuntu) or librdmacm (Fedora, RHEL)",
                    e);
        }
    }
}
