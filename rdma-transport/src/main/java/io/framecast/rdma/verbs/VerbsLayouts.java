package io.framecast.rdma.verbs;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.StructLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/// The structures of verbs.h that cross the border, named as there, for LP64. They have not changed since
/// rdma-core 1; a test compares every offset and size with a program that a C compiler makes of the installed header.
///
/// A string declares members of one C type, as in `"u32 length lkey"`. `"skip 16"` stands for 16 bytes of members that
/// this package does not use. [#OPEN_ENDED] leave the private members at their end out.
final class VerbsLayouts {
    static final int GID_BYTES = 16;

    // 8-byte alignment, as union ibv_gid has.
    private static final StructLayout GID = MemoryLayout.structLayout(JAVA_LONG, JAVA_LONG);

    static final StructLayout DEVICE = struct("ibv_device", "skip 16", "u32 node_type transport_type");
    static final StructLayout CONTEXT = struct(
            "ibv_context",
            "ptr device",
            struct("ops", "skip 88", "ptr poll_cq req_notify_cq", "skip 96", "ptr post_send post_recv", "skip 40"),
            "u32 cmd_fd async_fd num_comp_vectors",
            // The mutex, and its alignment.
            "skip 44",
            "u64 abi_compat");
    /// The value of `abi_compat` where [#CONTEXT_EXTENSION] lies before the context.
    static final long VERBS_ABI_IS_EXTENDED = -1;
    /// The end of a verbs_context, up to the ibv_context that is its last member. The structure grows at its beginning,
    /// so only distances from its end are stable.
    static final StructLayout CONTEXT_EXTENSION = struct("verbs_context", "ptr create_qp_ex", "skip 40", "u64 sz");
    static final StructLayout DEVICE_ATTR = struct(
            "ibv_device_attr",
            MemoryLayout.sequenceLayout(64, JAVA_BYTE).withName("fw_ver"),
            "u64 node_guid sys_image_guid max_mr_size page_size_cap",
            "u32 vendor_id vendor_part_id hw_ver max_qp max_qp_wr device_cap_flags max_sge max_sge_rd max_cq max_cqe",
            "u32 max_mr max_pd max_qp_rd_atom",
            "skip 8",
            "u32 max_qp_init_rd_atom",
            "skip 4",
            "u32 atomic_cap",
            "skip 20",
            "u32 max_mcast_grp max_mcast_qp_attach max_total_mcast_qp_attach max_ah",
            "skip 8",
            "u32 max_srq max_srq_wr max_srq_sge",
            "u16 max_pkeys",
            "u8 local_ca_ack_delay phys_port_cnt");
    static final StructLayout PORT_ATTR = struct(
            "ibv_port_attr",
            "u32 state max_mtu active_mtu gid_tbl_len port_cap_flags max_msg_sz",
            "skip 8",
            "u16 pkey_tbl_len lid sm_lid",
            "u8 lmc",
            "skip 1",
            "u8 sm_sl",
            "skip 2",
            "u8 active_width active_speed phys_state link_layer",
            "skip 5");
    static final StructLayout GID_ENTRY =
            struct("ibv_gid_entry", GID.withName("gid"), "u32 gid_index port_num gid_type ndev_ifindex");
    static final StructLayout MR = struct("ibv_mr", "ptr context pd addr", "u64 length", "u32 handle lkey rkey");
    static final StructLayout COMP_CHANNEL = struct("ibv_comp_channel", "ptr context", "u32 fd refcnt");
    static final StructLayout CQ = struct("ibv_cq", "ptr context channel cq_context", "u32 handle cqe");
    static final StructLayout QP =
            struct("ibv_qp", "ptr context qp_context pd send_cq recv_cq srq", "u32 handle qp_num state qp_type");
    private static final StructLayout QP_CAP =
            struct("ibv_qp_cap", "u32 max_send_wr max_recv_wr max_send_sge max_recv_sge max_inline_data");
    static final StructLayout QP_INIT_ATTR = struct(
            "ibv_qp_init_attr", "ptr qp_context send_cq recv_cq srq", QP_CAP.withName("cap"), "u32 qp_type sq_sig_all");
    /// Begins as [#QP_INIT_ATTR].
    static final StructLayout QP_INIT_ATTR_EX = struct(
            "ibv_qp_init_attr_ex",
            "ptr qp_context send_cq recv_cq srq",
            QP_CAP.withName("cap"),
            "u32 qp_type sq_sig_all comp_mask",
            "ptr pd xrcd",
            "u32 create_flags",
            "skip 52");
    static final StructLayout AH_ATTR = struct(
            "ibv_ah_attr",
            struct("grh", GID.withName("dgid"), "u32 flow_label", "u8 sgid_index hop_limit traffic_class"),
            "u16 dlid",
            "u8 sl src_path_bits static_rate is_global port_num");
    static final StructLayout QP_ATTR = struct(
            "ibv_qp_attr",
            "u32 qp_state cur_qp_state path_mtu path_mig_state qkey rq_psn sq_psn dest_qp_num qp_access_flags",
            QP_CAP.withName("cap"),
            AH_ATTR.withName("ah_attr"),
            AH_ATTR.withName("alt_ah_attr"),
            "u16 pkey_index alt_pkey_index",
            "u8 en_sqd_async_notify sq_draining max_rd_atomic max_dest_rd_atomic min_rnr_timer port_num timeout",
            "u8 retry_cnt rnr_retry alt_port_num alt_timeout",
            "u32 rate_limit");
    static final StructLayout SGE = struct("ibv_sge", "u64 addr", "u32 length lkey");
    static final StructLayout RECV_WR = struct("ibv_recv_wr", "u64 wr_id next sg_list", "u32 num_sge");
    static final StructLayout SEND_WR = struct(
            "ibv_send_wr",
            "u64 wr_id next sg_list",
            "u32 num_sge opcode send_flags imm_data",
            MemoryLayout.unionLayout(
                            struct("rdma", "u64 remote_addr", "u32 rkey"),
                            // Not in use, but the longest.
                            struct("atomic", "u64 remote_addr compare_add swap", "u32 rkey"),
                            struct("ud", "u64 ah", "u32 remote_qpn remote_qkey"))
                    .withName("wr"),
            "skip 56");
    static final StructLayout WC = struct(
            "ibv_wc",
            "u64 wr_id",
            "u32 status opcode vendor_err byte_len imm_data qp_num src_qp wc_flags",
            "u16 pkey_index slid",
            "u8 sl dlid_path_bits");
    static final StructLayout ASYNC_EVENT = struct(
            "ibv_async_event",
            MemoryLayout.unionLayout(ADDRESS.withName("qp"), JAVA_INT.withName("port_num"))
                    .withName("element"),
            "u32 event_type");

    /// Structures that the library makes and that this package only reads, up to the last member in use.
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

    /// The value of an enum in the order of verbs.h; the last stands for all other codes.
    static <E> E valueOf(final E[] values, final int code) {
        return code >= 0 && code < values.length ? values[code] : values[values.length - 1];
    }

    /// A structure with the padding that C adds before its members and at its end.
    ///
    /// @param members layouts, and declarations as the class says
    static StructLayout struct(final String name, final Object... members) {
        final List<MemoryLayout> layouts = new ArrayList<>();
        long bytes = 0;
        long alignment = 1;
        for (final MemoryLayout member :
                Stream.of(members).flatMap(VerbsLayouts::declared).toList()) {
            bytes = align(layouts, bytes, member.byteAlignment()) + member.byteSize();
            alignment = Math.max(alignment, member.byteAlignment());
            layouts.add(member);
        }
        align(layouts, bytes, alignment);
        return MemoryLayout.structLayout(layouts.toArray(MemoryLayout[]::new)).withName(name);
    }

    private static long align(final List<MemoryLayout> layouts, final long bytes, final long alignment) {
        final long padding = -bytes & (alignment - 1);
        if (padding > 0) {
            layouts.add(MemoryLayout.paddingLayout(padding));
        }
        return bytes + padding;
    }

    private static Stream<MemoryLayout> declared(final Object member) {
        if (member instanceof MemoryLayout layout) {
            return Stream.of(layout);
        }
        final String[] words = member.toString().split(" ", -1);
        if (words[0].equals("skip")) {
            return Stream.of(MemoryLayout.paddingLayout(Long.parseLong(words[1])));
        }
        final MemoryLayout type = switch (words[0]) {
            case "u8" -> JAVA_BYTE;
            case "u16" -> JAVA_SHORT;
            case "u32" -> JAVA_INT;
            case "u64" -> JAVA_LONG;
            case "ptr" -> ADDRESS;
            default -> throw new IllegalArgumentException("no C type: " + member);
        };
        return Stream.of(words).skip(1).map(type::withName);
    }
}
