package io.framecast.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.StructLayout;
import java.util.List;

/// The structures and constants of rdma_cma.h that cross the border, named as there, for LP64. Checked as
/// [VerbsLayouts] is.
final class CmLayouts {
    static final int RDMA_PS_UDP = 0x0111;
    static final int RDMA_CM_EVENT_MULTICAST_JOIN = 12;
    static final int RDMA_CM_EVENT_MULTICAST_ERROR = 13;

    static final int AF_INET = 2;
    static final int AF_INET6 = 10;

    /// Of netinet/in.h.
    static final StructLayout SOCKADDR_IN =
            VerbsLayouts.struct("sockaddr_in", "u16 sin_family sin_port", "u32 sin_addr", "skip 8");
    static final StructLayout SOCKADDR_IN6 = VerbsLayouts.struct(
            "sockaddr_in6",
            "u16 sin6_family sin6_port",
            "u32 sin6_flowinfo",
            MemoryLayout.sequenceLayout(16, JAVA_BYTE).withName("sin6_addr"),
            "u32 sin6_scope_id");
    static final StructLayout EVENT_CHANNEL = VerbsLayouts.struct("rdma_event_channel", "u32 fd");
    static final StructLayout UD_PARAM = VerbsLayouts.struct(
            "rdma_ud_param",
            "ptr private_data",
            "u8 private_data_len",
            VerbsLayouts.AH_ATTR.withName("ah_attr"),
            "u32 qp_num qkey");
    /// `param` is a union; its member for datagrams is the longest.
    static final StructLayout CM_EVENT =
            VerbsLayouts.struct("rdma_cm_event", "ptr id listen_id", "u32 event status", UD_PARAM.withName("param"));
    static final List<StructLayout> ALL = List.of(EVENT_CHANNEL, UD_PARAM, CM_EVENT);
    /// Of the C library.
    static final List<StructLayout> SOCKETS = List.of(SOCKADDR_IN, SOCKADDR_IN6);

    private CmLayouts() {}
}
