package io.framecast.rdma.verbs;

import io.framecast.api.error.NativeException;

/// Turns the errno of a verb into one line: function, number, object, meaning and how to fix it.
final class VerbsErrors {
    static final int EPERM = 1;
    static final int ENOENT = 2;
    static final int EINTR = 4;
    static final int EIO = 5;
    static final int EAGAIN = 11;
    static final int ENOMEM = 12;
    static final int EACCES = 13;
    static final int EFAULT = 14;
    static final int EBUSY = 16;
    static final int ENODEV = 19;
    static final int EINVAL = 22;
    static final int EMFILE = 24;
    static final int ENOSPC = 28;
    static final int ENOSYS = 38;
    static final int ENODATA = 61;
    static final int EPROTONOSUPPORT = 93;
    static final int EOPNOTSUPP = 95;
    static final int ENETUNREACH = 101;
    static final int ETIMEDOUT = 110;
    static final int EHOSTUNREACH = 113;

    private VerbsErrors() {}

    static NativeException of(final String function, final int errno, final String what) {
        return new NativeException(function, errno, what + ": " + meaning(function, errno));
    }

    private static String meaning(final String function, final int errno) {
        return switch (errno) {
            case EPERM, EACCES -> permission(function);
            case ENOMEM -> memory(function);
            case EFAULT ->
                function.startsWith("ibv_reg")
                        ? "not memory of this process that can be pinned; device memory needs dma-buf or nvidia-peermem"
                        : "bad address";
            case ENOSYS -> "the kernel has no RDMA; load ib_uverbs and the device's driver (modprobe)";
            case EOPNOTSUPP, EPROTONOSUPPORT ->
                function.equals("ibv_reg_dmabuf_mr")
                        ? "this device or kernel takes no dma-buf; use nvidia-peermem, or staged placement"
                        : "not supported by this device or driver";
            case EINVAL -> invalid(function);
            case EBUSY -> "still in use; close the objects that were made from it first";
            case ENODEV, EIO -> "the device is gone or failed; see dmesg and rdma link";
            case ENOENT -> "no such device or entry; see ibv_devices";
            case EMFILE -> "too many open files; raise ulimit -n";
            case ENOSPC -> "the device has no room for more of these; see ibv_devinfo -v for its limits";
            case EAGAIN -> "not now; the device or kernel is out of some resource for the moment";
            case ENETUNREACH, EHOSTUNREACH ->
                "no route to that address by this device; check the address, interface and GID index";
            case ETIMEDOUT -> "no answer in time; check link and neighbour";
            default -> "refused by the system; see errno(3)";
        };
    }

    private static String permission(final String function) {
        return switch (function) {
            case "ibv_open_device" ->
                "no access to the device's file; allow this user to read and write /dev/infiniband/uverbs*";
            case "ibv_reg_mr", "ibv_reg_dmabuf_mr" -> "not permitted; is the memory mapped read-only?";
            case "ibv_create_qp" -> "not permitted; this type of queue pair needs CAP_NET_RAW";
            default -> "not permitted for this user";
        };
    }

    private static String memory(final String function) {
        return switch (function) {
            case "ibv_reg_mr", "ibv_reg_dmabuf_mr", "ibv_create_cq", "ibv_create_qp", "ibv_create_qp_ex" ->
                "out of lockable memory or of the device's room; raise ulimit -l (memlock), or use less";
            case "ibv_attach_mcast" -> "no room for more groups or members; see max_mcast_grp of ibv_devinfo -v";
            default -> "out of memory or of the device's room";
        };
    }

    private static String invalid(final String function) {
        return switch (function) {
            case "ibv_create_qp", "ibv_create_cq" ->
                "not a size this device takes; see max_qp_wr, max_sge, max_cqe of ibv_devinfo -v";
            case "ibv_modify_qp" -> "not a state or value that may follow; check port, GID index, MTU and peer";
            case "ibv_attach_mcast" -> "not a multicast GID this device takes, or no UD queue pair";
            case "ibv_query_port", "_ibv_query_gid_ex" -> "no such port or table entry";
            case "ibv_create_ah" -> "no way to that address; check GID, GID index and port";
            default -> "a value that the device does not take";
        };
    }
}
