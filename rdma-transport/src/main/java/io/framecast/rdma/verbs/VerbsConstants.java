package io.framecast.rdma.verbs;

/// The constants of verbs.h in use, named as there; a test compares each with the installed header.
@SuppressWarnings("unused")
final class VerbsConstants {
    static final int IBV_TRANSPORT_IB = 0;

    static final int IBV_LINK_LAYER_UNSPECIFIED = 0;
    static final int IBV_LINK_LAYER_INFINIBAND = 1;
    static final int IBV_LINK_LAYER_ETHERNET = 2;

    static final int IBV_ACCESS_LOCAL_WRITE = 1;
    static final int IBV_ACCESS_REMOTE_WRITE = 1 << 1;
    static final int IBV_ACCESS_REMOTE_READ = 1 << 2;

    static final int IBV_QPT_RC = 2;
    static final int IBV_QPT_UD = 4;

    static final int IBV_QP_STATE = 1;
    static final int IBV_QP_ACCESS_FLAGS = 1 << 3;
    static final int IBV_QP_PKEY_INDEX = 1 << 4;
    static final int IBV_QP_PORT = 1 << 5;
    static final int IBV_QP_QKEY = 1 << 6;
    static final int IBV_QP_AV = 1 << 7;
    static final int IBV_QP_PATH_MTU = 1 << 8;
    static final int IBV_QP_TIMEOUT = 1 << 9;
    static final int IBV_QP_RETRY_CNT = 1 << 10;
    static final int IBV_QP_RNR_RETRY = 1 << 11;
    static final int IBV_QP_RQ_PSN = 1 << 12;
    static final int IBV_QP_MAX_QP_RD_ATOMIC = 1 << 13;
    static final int IBV_QP_MIN_RNR_TIMER = 1 << 15;
    static final int IBV_QP_SQ_PSN = 1 << 16;
    static final int IBV_QP_MAX_DEST_RD_ATOMIC = 1 << 17;
    static final int IBV_QP_DEST_QPN = 1 << 20;

    static final int IBV_QP_INIT_ATTR_PD = 1;
    static final int IBV_QP_INIT_ATTR_CREATE_FLAGS = 1 << 2;
    static final int IBV_QP_CREATE_BLOCK_SELF_MCAST_LB = 1 << 1;

    static final int IBV_WR_RDMA_WRITE = 0;
    static final int IBV_WR_SEND = 2;
    static final int IBV_WR_RDMA_READ = 4;

    static final int IBV_SEND_SIGNALED = 1 << 1;
    static final int IBV_SEND_INLINE = 1 << 3;

    static final int IBV_WC_SUCCESS = 0;
    static final int IBV_WC_LOC_LEN_ERR = 1;
    static final int IBV_WC_LOC_PROT_ERR = 4;
    static final int IBV_WC_WR_FLUSH_ERR = 5;
    static final int IBV_WC_REM_INV_REQ_ERR = 9;
    static final int IBV_WC_REM_ACCESS_ERR = 10;
    static final int IBV_WC_REM_OP_ERR = 11;
    static final int IBV_WC_RETRY_EXC_ERR = 12;
    static final int IBV_WC_RNR_RETRY_EXC_ERR = 13;
    static final int IBV_WC_FATAL_ERR = 19;
    static final int IBV_WC_RESP_TIMEOUT_ERR = 20;

    private VerbsConstants() {}
}
