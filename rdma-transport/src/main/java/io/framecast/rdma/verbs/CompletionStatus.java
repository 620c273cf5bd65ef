package io.framecast.rdma.verbs;

/// The results of requests, in words for an operator.
public final class CompletionStatus {
    public static final int SUCCESS = VerbsConstants.IBV_WC_SUCCESS;
    /// Given back because the queue pair failed before.
    public static final int FLUSHED = VerbsConstants.IBV_WC_WR_FLUSH_ERR;
    public static final int LOCAL_LENGTH = VerbsConstants.IBV_WC_LOC_LEN_ERR;
    public static final int LOCAL_PROTECTION = VerbsConstants.IBV_WC_LOC_PROT_ERR;
    public static final int REMOTE_ACCESS = VerbsConstants.IBV_WC_REM_ACCESS_ERR;
    public static final int RETRIES_EXCEEDED = VerbsConstants.IBV_WC_RETRY_EXC_ERR;
    public static final int NOT_READY_RETRIES_EXCEEDED = VerbsConstants.IBV_WC_RNR_RETRY_EXC_ERR;

    private CompletionStatus() {}

    /// One line: what happened, and how to fix it where that is known.
    public static String describe(final int status) {
        return switch (status) {
            case SUCCESS -> "success";
            case FLUSHED -> "given back: the queue pair had failed before, or was closed";
            case LOCAL_LENGTH -> "local length: longer than the posted buffers, or than this service carries";
            case LOCAL_PROTECTION -> "local protection: a buffer is outside its memory region, or the region is closed";
            case VerbsConstants.IBV_WC_REM_INV_REQ_ERR -> "the peer refused the request as invalid";
            case REMOTE_ACCESS -> "remote access: the peer's region does not allow it, or is closed";
            case VerbsConstants.IBV_WC_REM_OP_ERR -> "the peer could not carry it out";
            case RETRIES_EXCEEDED -> "no answer: the peer is gone, or the path to it is cut";
            case NOT_READY_RETRIES_EXCEEDED -> "the peer had no receive posted for too long";
            case VerbsConstants.IBV_WC_FATAL_ERR -> "the device failed; see dmesg";
            case VerbsConstants.IBV_WC_RESP_TIMEOUT_ERR -> "the peer took too long";
            default -> "status " + status + " of enum ibv_wc_status in verbs.h";
        };
    }
}
