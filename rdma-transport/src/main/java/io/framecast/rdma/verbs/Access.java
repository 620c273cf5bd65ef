package io.framecast.rdma.verbs;

/// Rights of a memory region or queue pair, combined with `|`. Local reading is always allowed.
public final class Access {
    public static final int LOCAL_READ = 0;
    public static final int LOCAL_WRITE = VerbsConstants.IBV_ACCESS_LOCAL_WRITE;
    /// A peer may write; needs [#LOCAL_WRITE] too.
    public static final int REMOTE_WRITE = VerbsConstants.IBV_ACCESS_REMOTE_WRITE;
    public static final int REMOTE_READ = VerbsConstants.IBV_ACCESS_REMOTE_READ;

    private Access() {}
}
