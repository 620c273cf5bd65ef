package io.framecast.rdma.verbs;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.SequenceLayout;
import java.lang.foreign.StructLayout;
import java.util.List;
import java.util.stream.Stream;

/// The structures of verbs.h that cross the border, named as there, for LP64. They have not changed since
/// rdma-core 1; a test compares every offset and size with what a C compiler makes of the installed header.
///
/// Bytes between members of interest are padding here. [#OPEN_ENDED] end in private members that are left
/// out.
final class VerbsLayouts {
    private static final int OPS_POINTERS = 32;
    private static final int MUTEX_BYTES = 40;

    static final int GID_BYTES = 16;

    static final StructLayout DEVICE = struct(
            "ibv_device",
            MemoryLayout.paddingLayout(16),
            JAVA_INT.withName("node_type"),
            JAVA_INT.withName("transport_type"));

    static final StructLayout CONTEXT = struct(
            "ibv_context",
            ADDRESS.withName("device"),
            struct(
                    "ops",
                    pointers(11),
                    ADDRESS.withName("poll_cq"),
                    ADDRESS.withName("req_notify_cq"),
                    pointers(7),
                    ADDRESS.withName("post_srq_recv"),
                    pointers(4),
                    ADDRESS.withName("post_send"),
                    ADDRESS.withName("post_recv"),
                    pointers(OPS_POINTERS - 27)),
            JAVA_INT.withName("cmd_fd"),
            JAVA_INT.withName("async_fd"),
            JAVA_INT.withName("num_comp_vectors"),
            MemoryLayout.paddingLayout(4),
            MemoryLayout.paddingLayout(MUTEX_BYTES),
            JAVA_LONG.withName("abi_compat"));

    /// What `abi_compat` holds where [#CONTEXT_EXTENSION] lies before the context.
    static final long VERBS_ABI_IS_EXTENDED = -1;

    /// The end of a verbs_context, up to the ibv_context that is its last member. It grows at its beginning, so
    /// only distances from here stay.
    static final StructLayout CONTEXT_EXTENSION = struct(
            "verbs_context", ADDRESS.withName("create_qp_ex"), pointers(4), pointers(1), JAVA_LONG.withName("sz"));

    static final StructLayout DEVICE_ATTR = struct(
            "ibv_device_attr",
            bytes(64, "fw_ver"),
            JAVA_LONG.withName("node_guid"),
            JAVA_LONG.withName("sys_image_guid"),
            JAVA_LONG.withName("max_mr_size"),
            JAVA_LONG.withName("page_size_cap"),
            JAVA_INT.withName("vendor_id"),
            JAVA_INT.withName("vendor_part_id"),
            JAVA_INT.withName("hw_ver"),
            JAVA_INT.withName("max_qp"),
            JAVA_INT.withName("max_qp_wr"),
            JAVA_INT.withName("device_cap_flags"),
            JAVA_INT.withName("max_sge"),
            JAVA_INT.withName("max_sge_rd"),
            JAVA_INT.withName("max_cq"),
            JAVA_INT.withName("max_cqe"),
            JAVA_INT.withName("max_mr"),
            JAVA_INT.withName("max_pd"),
            JAVA_INT.withName("max_qp_rd_atom"),
            MemoryLayout.paddingLayout(8),
            JAVA_INT.withName("max_qp_init_rd_atom"),
            MemoryLayout.paddingLayout(4),
            JAVA_INT.withName("atomic_cap"),
            MemoryLayout.paddingLayout(20),
            JAVA_INT.withName("max_mcast_grp"),
            JAVA_INT.withName("max_mcast_qp_attach"),
            JAVA_INT.withName("max_total_mcast_qp_attach"),
            JAVA_INT.withName("max_ah"),
            MemoryLayout.paddingLayout(8),
            JAVA_INT.withName("max_srq"),
            JAVA_INT.withName("max_srq_wr"),
            JAVA_INT.withName("max_srq_sge"),
            JAVA_SHORT.withName("max_pkeys"),
            JAVA_BYTE.withName("local_ca_ack_delay"),
            JAVA_BYTE.withName("phys_port_cnt"),
            MemoryLayout.paddingLayout(4));

    static final StructLayout PORT_ATTR = struct(
            "ibv_port_attr",
            JAVA_INT.withName("state"),
            JAVA_INT.withName("max_mtu"),
            JAVA_INT.withName("active_mtu"),
            JAVA_INT.withName("gid_tbl_len"),
            JAVA_INT.withName("port_cap_flags"),
            JAVA_INT.withName("max_msg_sz"),
            MemoryLayout.paddingLayout(8),
            JAVA_SHORT.withName("pkey_tbl_len"),
            JAVA_SHORT.withName("lid"),
            JAVA_SHORT.withName("sm_lid"),
            JAVA_BYTE.withName("lmc"),
            MemoryLayout.paddingLayout(1),
            JAVA_BYTE.withName("sm_sl"),
            MemoryLayout.paddingLayout(2),
            JAVA_BYTE.withName("active_width"),
            JAVA_BYTE.withName("active_speed"),
            JAVA_BYTE.withName("phys_state"),
            JAVA_BYTE.withName("link_layer"),
            MemoryLayout.paddingLayout(5));

    static final StructLayout GID_ENTRY = struct(
            "ibv_gid_entry",
            // 8-byte alignment of the first member is what union ibv_gid has.
            MemoryLayout.structLayout(JAVA_LONG, JAVA_LONG).withName("gid"),
            JAVA_INT.withName("gid_index"),
            JAVA_INT.withName("port_num"),
            JAVA_INT.withName("gid_type"),
            JAVA_INT.withName("ndev_ifindex"));

    static final StructLayout MR = struct(
            "ibv_mr",
            ADDRESS.withName("context"),
            ADDRESS.withName("pd"),
            ADDRESS.withName("addr"),
            JAVA_LONG.withName("length"),
            JAVA_INT.withName("handle"),
            JAVA_INT.withName("lkey"),
            JAVA_INT.withName("rkey"),
            MemoryLayout.paddingLayout(4));

    static final StructLayout COMP_CHANNEL = struct(
            "ibv_comp_channel", ADDRESS.withName("context"), JAVA_INT.withName("fd"), JAVA_INT.withName("refcnt"));

    static final StructLayout CQ = struct(
            "ibv_cq",
            ADDRESS.withName("context"),
            ADDRESS.withName("channel"),
            ADDRESS.withName("cq_context"),
            JAVA_INT.withName("handle"),
            JAVA_INT.withName("cqe"));

    static final StructLayout QP = struct(
            "ibv_qp",
            ADDRESS.withName("context"),
            ADDRESS.withName("qp_context"),
            ADDRESS.withName("pd"),
            ADDRESS.withName("send_cq"),
            ADDRESS.withName("recv_cq"),
            ADDRESS.withName("srq"),
            JAVA_INT.withName("handle"),
            JAVA_INT.withName("qp_num"),
            JAVA_INT.withName("state"),
            JAVA_INT.withName("qp_type"));

    private static final StructLayout QP_CAP = struct(
            "ibv_qp_cap",
            JAVA_INT.withName("max_send_wr"),
            JAVA_INT.withName("max_recv_wr"),
            JAVA_INT.withName("max_send_sge"),
            JAVA_INT.withName("max_recv_sge"),
            JAVA_INT.withName("max_inline_data"));

    static final StructLayout QP_INIT_ATTR = struct(
            "ibv_qp_init_attr",
            ADDRESS.withName("qp_context"),
            ADDRESS.withName("send_cq"),
            ADDRESS.withName("recv_cq"),
            ADDRESS.withName("srq"),
            QP_CAP.withName("cap"),
            JAVA_INT.withName("qp_type"),
            JAVA_INT.withName("sq_sig_all"),
            MemoryLayout.paddingLayout(4));

    /// Begins as [#QP_INIT_ATTR].
    static final StructLayout QP_INIT_ATTR_EX = struct(
            "ibv_qp_init_attr_ex",
            ADDRESS.withName("qp_context"),
            ADDRESS.withName("send_cq"),
            ADDRESS.withName("recv_cq"),
            ADDRESS.withName("srq"),
            QP_CAP.withName("cap"),
            JAVA_INT.withName("qp_type"),
            JAVA_INT.withName("sq_sig_all"),
            JAVA_INT.withName("comp_mask"),
            ADDRESS.withName("pd"),
            ADDRESS.withName("xrcd"),
            JAVA_INT.withName("create_flags"),
            MemoryLayout.paddingLayout(52));

    static final StructLayout SRQ_INIT_ATTR = struct(
            "ibv_srq_init_attr",
            ADDRESS.withName("srq_context"),
            struct("attr", JAVA_INT.withName("max_wr"), JAVA_INT.withName("max_sge"), JAVA_INT.withName("srq_limit")),
            MemoryLayout.paddingLayout(4));

    static final StructLayout AH_ATTR = struct(
            "ibv_ah_attr",
            struct(
                    "grh",
                    MemoryLayout.structLayout(JAVA_LONG, JAVA_LONG).withName("dgid"),
                    JAVA_INT.withName("flow_label"),
                    JAVA_BYTE.withName("sgid_index"),
                    JAVA_BYTE.withName("hop_limit"),
                    JAVA_BYTE.withName("traffic_class"),
                    MemoryLayout.paddingLayout(1)),
            JAVA_SHORT.withName("dlid"),
            JAVA_BYTE.withName("sl"),
            JAVA_BYTE.withName("src_path_bits"),
            JAVA_BYTE.withName("static_rate"),
            JAVA_BYTE.withName("is_global"),
            JAVA_BYTE.withName("port_num"),
            MemoryLayout.paddingLayout(1));

    static final StructLayout QP_ATTR = struct(
            "ibv_qp_attr",
            JAVA_INT.withName("qp_state"),
            JAVA_INT.withName("cur_qp_state"),
            JAVA_INT.withName("path_mtu"),
            JAVA_INT.withName("path_mig_state"),
            JAVA_INT.withName("qkey"),
            JAVA_INT.withName("rq_psn"),
            JAVA_INT.withName("sq_psn"),
            JAVA_INT.withName("dest_qp_num"),
            JAVA_INT.withName("qp_access_flags"),
            QP_CAP.withName("cap"),
            AH_ATTR.withName("ah_attr"),
            AH_ATTR.withName("alt_ah_attr"),
            JAVA_SHORT.withName("pkey_index"),
            JAVA_SHORT.withName("alt_pkey_index"),
            JAVA_BYTE.withName("en_sqd_async_notify"),
            JAVA_BYTE.withName("sq_draining"),
            JAVA_BYTE.withName("max_rd_atomic"),
            JAVA_BYTE.withName("max_dest_rd_atomic"),
            JAVA_BYTE.withName("min_rnr_timer"),
            JAVA_BYTE.withName("port_num"),
            JAVA_BYTE.withName("timeout"),
            JAVA_BYTE.withName("retry_cnt"),
            JAVA_BYTE.withName("rnr_retry"),
            JAVA_BYTE.withName("alt_port_num"),
            JAVA_BYTE.withName("alt_timeout"),
            MemoryLayout.paddingLayout(1),
            JAVA_INT.withName("rate_limit"),
            MemoryLayout.paddingLayout(4));

    static final StructLayout SGE =
            struct("ibv_sge", JAVA_LONG.withName("addr"), JAVA_INT.withName("length"), JAVA_INT.withName("lkey"));

    static final StructLayout RECV_WR = struct(
            "ibv_recv_wr",
            JAVA_LONG.withName("wr_id"),
            JAVA_LONG.withName("next"),
            JAVA_LONG.withName("sg_list"),
            JAVA_INT.withName("num_sge"),
            MemoryLayout.paddingLayout(4));

    static final StructLayout SEND_WR = struct(
            "ibv_send_wr",
            JAVA_LONG.withName("wr_id"),
            JAVA_LONG.withName("next"),
            JAVA_LONG.withName("sg_list"),
            JAVA_INT.withName("num_sge"),
            JAVA_INT.withName("opcode"),
            JAVA_INT.withName("send_flags"),
            JAVA_INT.withName("imm_data"),
            MemoryLayout.unionLayout(
                            MemoryLayout.structLayout(
                                            JAVA_LONG.withName("remote_addr"),
                                            JAVA_INT.withName("rkey"),
                                            MemoryLayout.paddingLayout(4))
                                    .withName("rdma"),
                            MemoryLayout.structLayout(
                                            JAVA_LONG.withName("remote_addr"),
                                            JAVA_LONG.withName("compare_add"),
                                            JAVA_LONG.withName("swap"),
                                            JAVA_INT.withName("rkey"),
                                            MemoryLayout.paddingLayout(4))
                                    .withName("atomic"),
                            MemoryLayout.structLayout(
                                            JAVA_LONG.withName("ah"),
                                            JAVA_INT.withName("remote_qpn"),
                                            JAVA_INT.withName("remote_qkey"))
                                    .withName("ud"))
                    .withName("wr"),
            MemoryLayout.paddingLayout(56));

    static final StructLayout WC = struct(
            "ibv_wc",
            JAVA_LONG.withName("wr_id"),
            JAVA_INT.withName("status"),
            JAVA_INT.withName("opcode"),
            JAVA_INT.withName("vendor_err"),
            JAVA_INT.withName("byte_len"),
            JAVA_INT.withName("imm_data"),
            JAVA_INT.withName("qp_num"),
            JAVA_INT.withName("src_qp"),
            JAVA_INT.withName("wc_flags"),
            JAVA_SHORT.withName("pkey_index"),
            JAVA_SHORT.withName("slid"),
            JAVA_BYTE.withName("sl"),
            JAVA_BYTE.withName("dlid_path_bits"),
            MemoryLayout.paddingLayout(2));

    static final StructLayout ASYNC_EVENT = struct(
            "ibv_async_event",
            MemoryLayout.unionLayout(ADDRESS.withName("qp"), JAVA_INT.withName("port_num"))
                    .withName("element"),
            JAVA_INT.withName("event_type"),
            MemoryLayout.paddingLayout(4));

    /// Structures that the library makes and that are only read here, up to the last member of interest.
    static final List<StructLayout> OPEN_ENDED = List.of(DEVICE, CQ, QP);

    /// Structures that are as long as in C.
    static final List<StructLayout> WHOLE = List.of(
            CONTEXT,
            DEVICE_ATTR,
            PORT_ATTR,
            GID_ENTRY,
            MR,
            COMP_CHANNEL,
            QP_CAP,
            QP_INIT_ATTR,
            QP_INIT_ATTR_EX,
            SRQ_INIT_ATTR,
            AH_ATTR,
            QP_ATTR,
            SGE,
            RECV_WR,
            SEND_WR,
            WC,
            ASYNC_EVENT);

    private VerbsLayouts() {}

    /// Offset of a member, named as in C.
    static long offset(final StructLayout struct, final String... path) {
        return struct.byteOffset(Stream.of(path).map(PathElement::groupElement).toArray(PathElement[]::new));
    }

    private static StructLayout struct(final String name, final MemoryLayout... members) {
        return MemoryLayout.structLayout(members).withName(name);
    }

    private static SequenceLayout bytes(final int count, final String name) {
        return MemoryLayout.sequenceLayout(count, JAVA_BYTE).withName(name);
    }

    private static MemoryLayout pointers(final int count) {
        return MemoryLayout.paddingLayout(count * ADDRESS.byteSize());
    }
}
