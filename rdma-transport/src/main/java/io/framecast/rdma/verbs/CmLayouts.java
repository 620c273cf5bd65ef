package io.framecast.rdma.verbs;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

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
    static final StructLayout SOCKADDR_IN = MemoryLayout.structLayout(
                    JAVA_SHORT.withName("sin_family"),
                    JAVA_SHORT.withName("sin_port"),
                    JAVA_INT.withName("sin_addr"),
                    MemoryLayout.paddingLayout(8))
            .withName("sockaddr_in");

    static final StructLayout SOCKADDR_IN6 = MemoryLayout.structLayout(
                    JAVA_SHORT.withName("sin6_family"),
                    JAVA_SHORT.withName("sin6_port"),
                    JAVA_INT.withName("sin6_flowinfo"),
                    MemoryLayout.sequenceLayout(16, JAVA_BYTE).withName("sin6_addr"),
                    JAVA_INT.withName("sin6_scope_id"))
            .withName("sockaddr_in6");

    static final StructLayout EVENT_CHANNEL =
            MemoryLayout.structLayout(JAVA_INT.withName("fd")).withName("rdma_event_channel");

    static final StructLayout UD_PARAM = MemoryLayout.structLayout(
                    ADDRESS.withName("private_data"),
                    JAVA_BYTE.withName("private_data_len"),
                    MemoryLayout.paddingLayout(7),
                    VerbsLayouts.AH_ATTR.withName("ah_attr"),
                    JAVA_INT.withName("qp_num"),
                    JAVA_INT.withName("qkey"))
            .withName("rdma_ud_param");

    /// `param` is a union; its member for datagrams is the longest.
    static final StructLayout CM_EVENT = MemoryLayout.structLayout(
                    ADDRESS.withName("id"),
                    ADDRESS.withName("listen_id"),
                    JAVA_INT.withName("event"),
                    JAVA_INT.withName("status"),
                    UD_PARAM.withName("param"))
            .withName("rdma_cm_event");

    static final List<StructLayout> ALL = List.of(EVENT_CHANNEL, UD_PARAM, CM_EVENT);

    /// Of the C library.
    static final List<StructLayout> SOCKETS = List.of(SOCKADDR_IN, SOCKADDR_IN6);

    private CmLayouts() {}
}
