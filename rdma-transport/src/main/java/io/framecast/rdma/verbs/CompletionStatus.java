package io.framecast.rdma.verbs;

/// The results of requests, in words for an operator.
public final class CompletionStatus {
    public static final int SUCCESS = VerbsConstants.IBV_WC_SUCCESS;

    private CompletionStatus() {}

    /// One line: the failure, and how to fix it where that is known.
    public static String describe(final int status) {
        return switch (status) {
            case SUCCESS -> "success";
            case VerbsConstants.IBV_WC_WR_FLUSH_ERR -> "given back: the queue pair had failed before, or was closed";
            case VerbsConstants.IBV_WC_LOC_LEN_ERR ->
                "local length: longer than the posted buffers, or than this service carries";
            case VerbsConstants.IBV_WC_LOC_PROT_ERR ->
                "local protection: a buffer is outside its memory region, or the region is closed";
            case VerbsConstants.IBV_WC_REM_INV_REQ_ERR -> "the peer refused the request as invalid";
            case VerbsConstants.IBV_WC_REM_ACCESS_ERR ->
                "remote access: the peer's region does not allow it, or is closed";
            case VerbsConstants.IBV_WC_REM_OP_ERR -> "the peer could not carry it out";
            case VerbsConstants.IBV_WC_RETRY_EXC_ERR -> "no answer: the peer is gone, or the path to it is cut";
            case VerbsConstants.IBV_WC_RNR_RETRY_EXC_ERR -> "the peer had no receive posted for too long";
            case VerbsConstants.IBV_WC_FATAL_ERR -> "the device failed; see dmesg";
            case VerbsConstants.IBV_WC_RESP_TIMEOUT_ERR -> "the peer took too long";
            default -> "status " + status + " of enum ibv_wc_status in verbs.h";
        };
    }
}
