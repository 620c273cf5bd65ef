/* What the stand-in and programs for it need of <infiniband/verbs.h>, for machines where that is not installed. Binary
 * layout only, for LP64; a test compares it with the Java bindings and so with the installed header. */
#ifndef VERBS_ABI_H
#define VERBS_ABI_H
#include <stddef.h>
#include <stdint.h>

enum { IBV_NODE_CA = 1, IBV_NODE_RNIC = 4, IBV_TRANSPORT_IB = 0, IBV_TRANSPORT_IWARP = 1 };
enum { IBV_PORT_NOP, IBV_PORT_DOWN, IBV_PORT_INIT, IBV_PORT_ARMED, IBV_PORT_ACTIVE, IBV_PORT_ACTIVE_DEFER };
enum { IBV_LINK_LAYER_UNSPECIFIED, IBV_LINK_LAYER_INFINIBAND, IBV_LINK_LAYER_ETHERNET };
enum { IBV_MTU_256 = 1, IBV_MTU_512, IBV_MTU_1024, IBV_MTU_2048, IBV_MTU_4096 };
enum { IBV_GID_TYPE_IB, IBV_GID_TYPE_ROCE_V1, IBV_GID_TYPE_ROCE_V2 };
enum { IBV_ATOMIC_NONE, IBV_ATOMIC_HCA, IBV_ATOMIC_GLOB };
enum {
    IBV_ACCESS_LOCAL_WRITE = 1,
    IBV_ACCESS_REMOTE_WRITE = 2,
    IBV_ACCESS_REMOTE_READ = 4,
    IBV_ACCESS_REMOTE_ATOMIC = 8,
    IBV_ACCESS_RELAXED_ORDERING = 1 << 20
};
enum { IBV_QPT_RC = 2, IBV_QPT_UD = 4 };
enum { IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_SQD, IBV_QPS_SQE, IBV_QPS_ERR };
enum {
    IBV_QP_STATE = 1,
    IBV_QP_ACCESS_FLAGS = 1 << 3,
    IBV_QP_PKEY_INDEX = 1 << 4,
    IBV_QP_PORT = 1 << 5,
    IBV_QP_QKEY = 1 << 6,
    IBV_QP_AV = 1 << 7,
    IBV_QP_PATH_MTU = 1 << 8,
    IBV_QP_TIMEOUT = 1 << 9,
    IBV_QP_RETRY_CNT = 1 << 10,
    IBV_QP_RNR_RETRY = 1 << 11,
    IBV_QP_RQ_PSN = 1 << 12,
    IBV_QP_MAX_QP_RD_ATOMIC = 1 << 13,
    IBV_QP_MIN_RNR_TIMER = 1 << 15,
    IBV_QP_SQ_PSN = 1 << 16,
    IBV_QP_MAX_DEST_RD_ATOMIC = 1 << 17,
    IBV_QP_DEST_QPN = 1 << 20
};
enum { IBV_QP_INIT_ATTR_PD = 1, IBV_QP_INIT_ATTR_CREATE_FLAGS = 4, IBV_QP_CREATE_BLOCK_SELF_MCAST_LB = 2 };
enum {
    IBV_WR_RDMA_WRITE,
    IBV_WR_RDMA_WRITE_WITH_IMM,
    IBV_WR_SEND,
    IBV_WR_SEND_WITH_IMM,
    IBV_WR_RDMA_READ,
    IBV_WR_ATOMIC_CMP_AND_SWP,
    IBV_WR_ATOMIC_FETCH_AND_ADD
};
enum { IBV_SEND_FENCE = 1, IBV_SEND_SIGNALED = 2, IBV_SEND_SOLICITED = 4, IBV_SEND_INLINE = 8 };
enum {
    IBV_WC_SUCCESS = 0,
    IBV_WC_LOC_LEN_ERR = 1,
    IBV_WC_LOC_QP_OP_ERR = 2,
    IBV_WC_LOC_PROT_ERR = 4,
    IBV_WC_WR_FLUSH_ERR = 5,
    IBV_WC_REM_INV_REQ_ERR = 9,
    IBV_WC_REM_ACCESS_ERR = 10,
    IBV_WC_REM_OP_ERR = 11,
    IBV_WC_RETRY_EXC_ERR = 12,
    IBV_WC_RNR_RETRY_EXC_ERR = 13,
    IBV_WC_FATAL_ERR = 19,
    IBV_WC_RESP_TIMEOUT_ERR = 20,
    IBV_WC_GENERAL_ERR = 21
};
enum {
    IBV_WC_SEND = 0,
    IBV_WC_RDMA_WRITE = 1,
    IBV_WC_RDMA_READ = 2,
    IBV_WC_COMP_SWAP = 3,
    IBV_WC_FETCH_ADD = 4,
    IBV_WC_RECV = 128,
    IBV_WC_RECV_RDMA_WITH_IMM = 129
};
enum { IBV_WC_GRH = 1, IBV_WC_WITH_IMM = 2 };
enum {
    IBV_EVENT_CQ_ERR,
    IBV_EVENT_QP_FATAL,
    IBV_EVENT_QP_REQ_ERR,
    IBV_EVENT_QP_ACCESS_ERR,
    IBV_EVENT_COMM_EST,
    IBV_EVENT_SQ_DRAINED,
    IBV_EVENT_PATH_MIG,
    IBV_EVENT_PATH_MIG_ERR,
    IBV_EVENT_DEVICE_FATAL,
    IBV_EVENT_PORT_ACTIVE,
    IBV_EVENT_PORT_ERR,
    IBV_EVENT_LID_CHANGE,
    IBV_EVENT_PKEY_CHANGE,
    IBV_EVENT_SM_CHANGE,
    IBV_EVENT_SRQ_ERR,
    IBV_EVENT_SRQ_LIMIT_REACHED,
    IBV_EVENT_QP_LAST_WQE_REACHED,
    IBV_EVENT_CLIENT_REREGISTER,
    IBV_EVENT_GID_CHANGE,
    IBV_EVENT_WQ_FATAL
};

union ibv_gid {
    uint8_t raw[16];
    uint64_t words[2];
};

struct ibv_gid_entry {
    union ibv_gid gid;
    uint32_t gid_index, port_num, gid_type, ndev_ifindex;
};

struct ibv_device {
    void *provider[2];
    int node_type, transport_type;
    char name[64], dev_name[64], dev_path[256], ibdev_path[256];
};

struct ibv_wc {
    uint64_t wr_id;
    int status, opcode;
    uint32_t vendor_err, byte_len, imm_data, qp_num, src_qp;
    unsigned wc_flags;
    uint16_t pkey_index, slid;
    uint8_t sl, dlid_path_bits;
};

struct ibv_sge {
    uint64_t addr;
    uint32_t length, lkey;
};

struct ibv_recv_wr {
    uint64_t wr_id;
    struct ibv_recv_wr *next;
    struct ibv_sge *sg_list;
    int num_sge;
};

struct ibv_ah;
struct ibv_send_wr {
    uint64_t wr_id;
    struct ibv_send_wr *next;
    struct ibv_sge *sg_list;
    int num_sge, opcode;
    unsigned send_flags;
    uint32_t imm_data;
    union {
        struct {
            uint64_t remote_addr;
            uint32_t rkey;
        } rdma;
        struct {
            uint64_t remote_addr, compare_add, swap;
            uint32_t rkey;
        } atomic;
        struct {
            struct ibv_ah *ah;
            uint32_t remote_qpn, remote_qkey;
        } ud;
    } wr;
    uint64_t other[7];
};

struct ibv_cq;
struct ibv_qp;
struct ibv_srq;
struct ibv_context_ops {
    void *private_0[11];
    int (*poll_cq)(struct ibv_cq *, int, struct ibv_wc *);
    int (*req_notify_cq)(struct ibv_cq *, int);
    void *private_1[7];
    int (*post_srq_recv)(struct ibv_srq *, struct ibv_recv_wr *, struct ibv_recv_wr **);
    void *private_2[4];
    int (*post_send)(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **);
    int (*post_recv)(struct ibv_qp *, struct ibv_recv_wr *, struct ibv_recv_wr **);
    void *private_3[5];
};

struct ibv_context {
    struct ibv_device *device;
    struct ibv_context_ops ops;
    int cmd_fd, async_fd, num_comp_vectors;
    uint64_t mutex[5];
    void *abi_compat;
};

#define __VERBS_ABI_IS_EXTENDED ((void *)UINTPTR_MAX)
struct ibv_qp_init_attr_ex;
/* Longer in the header, where it grows at its beginning. */
struct verbs_context {
    struct ibv_qp *(*create_qp_ex)(struct ibv_context *, struct ibv_qp_init_attr_ex *);
    void *private_0[4];
    uint64_t private_1;
    size_t sz;
    struct ibv_context context;
};

struct ibv_pd {
    struct ibv_context *context;
    uint32_t handle;
};

struct ibv_mr {
    struct ibv_context *context;
    struct ibv_pd *pd;
    void *addr;
    size_t length;
    uint32_t handle, lkey, rkey;
};

struct ibv_comp_channel {
    struct ibv_context *context;
    int fd, refcnt;
};

/* Longer in the header; what follows is private there. */
struct ibv_cq {
    struct ibv_context *context;
    struct ibv_comp_channel *channel;
    void *cq_context;
    uint32_t handle;
    int cqe;
};

struct ibv_srq {
    struct ibv_context *context;
    void *srq_context;
    struct ibv_pd *pd;
    uint32_t handle;
};

/* Longer in the header, too. */
struct ibv_qp {
    struct ibv_context *context;
    void *qp_context;
    struct ibv_pd *pd;
    struct ibv_cq *send_cq, *recv_cq;
    struct ibv_srq *srq;
    uint32_t handle, qp_num;
    int state, qp_type;
};

struct ibv_ah {
    struct ibv_context *context;
    struct ibv_pd *pd;
    uint32_t handle;
};

struct ibv_global_route {
    union ibv_gid dgid;
    uint32_t flow_label;
    uint8_t sgid_index, hop_limit, traffic_class;
};

struct ibv_ah_attr {
    struct ibv_global_route grh;
    uint16_t dlid;
    uint8_t sl, src_path_bits, static_rate, is_global, port_num;
};

struct ibv_qp_cap {
    uint32_t max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline_data;
};

struct ibv_qp_init_attr {
    void *qp_context;
    struct ibv_cq *send_cq, *recv_cq;
    struct ibv_srq *srq;
    struct ibv_qp_cap cap;
    int qp_type, sq_sig_all;
};

struct ibv_qp_init_attr_ex {
    void *qp_context;
    struct ibv_cq *send_cq, *recv_cq;
    struct ibv_srq *srq;
    struct ibv_qp_cap cap;
    int qp_type, sq_sig_all;
    uint32_t comp_mask;
    struct ibv_pd *pd;
    void *xrcd;
    uint32_t create_flags;
    uint16_t max_tso_header;
    uint64_t private_0[4];
    uint32_t source_qpn;
    uint64_t send_ops_flags;
};

struct ibv_srq_init_attr {
    void *srq_context;
    struct {
        uint32_t max_wr, max_sge, srq_limit;
    } attr;
};

struct ibv_qp_attr {
    int qp_state, cur_qp_state, path_mtu, path_mig_state;
    uint32_t qkey, rq_psn, sq_psn, dest_qp_num;
    unsigned qp_access_flags;
    struct ibv_qp_cap cap;
    struct ibv_ah_attr ah_attr, alt_ah_attr;
    uint16_t pkey_index, alt_pkey_index;
    uint8_t en_sqd_async_notify, sq_draining, max_rd_atomic, max_dest_rd_atomic, min_rnr_timer, port_num, timeout,
        retry_cnt, rnr_retry, alt_port_num, alt_timeout;
    uint32_t rate_limit;
};

struct ibv_device_attr {
    char fw_ver[64];
    uint64_t node_guid, sys_image_guid, max_mr_size, page_size_cap;
    uint32_t vendor_id, vendor_part_id, hw_ver;
    int max_qp, max_qp_wr;
    unsigned device_cap_flags;
    int max_sge, max_sge_rd, max_cq, max_cqe, max_mr, max_pd, max_qp_rd_atom, max_ee_rd_atom, max_res_rd_atom,
        max_qp_init_rd_atom, max_ee_init_rd_atom, atomic_cap, max_ee, max_rdd, max_mw, max_raw_ipv6_qp,
        max_raw_ethy_qp, max_mcast_grp, max_mcast_qp_attach, max_total_mcast_qp_attach, max_ah, max_fmr,
        max_map_per_fmr, max_srq, max_srq_wr, max_srq_sge;
    uint16_t max_pkeys;
    uint8_t local_ca_ack_delay, phys_port_cnt;
};

struct ibv_port_attr {
    int state, max_mtu, active_mtu, gid_tbl_len;
    uint32_t port_cap_flags, max_msg_sz, bad_pkey_cntr, qkey_viol_cntr;
    uint16_t pkey_tbl_len, lid, sm_lid;
    uint8_t lmc, max_vl_num, sm_sl, subnet_timeout, init_type_reply, active_width, active_speed, phys_state,
        link_layer, flags;
    uint16_t port_cap_flags2;
};

struct ibv_async_event {
    union {
        struct ibv_cq *cq;
        struct ibv_qp *qp;
        struct ibv_srq *srq;
        int port_num;
    } element;
    int event_type;
};

struct ibv_device **ibv_get_device_list(int *);
void ibv_free_device_list(struct ibv_device **);
const char *ibv_get_device_name(struct ibv_device *);
uint64_t ibv_get_device_guid(struct ibv_device *);
struct ibv_context *ibv_open_device(struct ibv_device *);
int ibv_close_device(struct ibv_context *);
int ibv_query_device(struct ibv_context *, struct ibv_device_attr *);
int ibv_query_port(struct ibv_context *, uint8_t, struct ibv_port_attr *);
int ibv_query_gid(struct ibv_context *, uint8_t, int, union ibv_gid *);
int _ibv_query_gid_ex(struct ibv_context *, uint32_t, uint32_t, struct ibv_gid_entry *, uint32_t, size_t);
int ibv_query_pkey(struct ibv_context *, uint8_t, int, uint16_t *);
int ibv_get_async_event(struct ibv_context *, struct ibv_async_event *);
void ibv_ack_async_event(struct ibv_async_event *);
struct ibv_pd *ibv_alloc_pd(struct ibv_context *);
int ibv_dealloc_pd(struct ibv_pd *);
struct ibv_mr *ibv_reg_mr(struct ibv_pd *, void *, size_t, int);
struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *, uint64_t, size_t, uint64_t, int, int);
int ibv_dereg_mr(struct ibv_mr *);
struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *);
int ibv_destroy_comp_channel(struct ibv_comp_channel *);
struct ibv_cq *ibv_create_cq(struct ibv_context *, int, void *, struct ibv_comp_channel *, int);
int ibv_destroy_cq(struct ibv_cq *);
int ibv_get_cq_event(struct ibv_comp_channel *, struct ibv_cq **, void **);
void ibv_ack_cq_events(struct ibv_cq *, unsigned);
struct ibv_srq *ibv_create_srq(struct ibv_pd *, struct ibv_srq_init_attr *);
int ibv_destroy_srq(struct ibv_srq *);
struct ibv_qp *ibv_create_qp(struct ibv_pd *, struct ibv_qp_init_attr *);
int ibv_modify_qp(struct ibv_qp *, struct ibv_qp_attr *, int);
int ibv_query_qp(struct ibv_qp *, struct ibv_qp_attr *, int, struct ibv_qp_init_attr *);
int ibv_destroy_qp(struct ibv_qp *);
int ibv_attach_mcast(struct ibv_qp *, const union ibv_gid *, uint16_t);
int ibv_detach_mcast(struct ibv_qp *, const union ibv_gid *, uint16_t);
struct ibv_ah *ibv_create_ah(struct ibv_pd *, struct ibv_ah_attr *);
int ibv_destroy_ah(struct ibv_ah *);
#endif
