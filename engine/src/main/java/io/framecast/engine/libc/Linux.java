package io.framecast.engine.libc;

import java.util.Optional;
import java.util.Set;

/// Numbers of Linux on 64-bit x86 and ARM, which agree but for `struct epoll_event`: sizes and offsets of
/// structs, options, flags, errors. A test compares each of them with a compiled C program.
public final class Linux {
    public static final int AF_UNIX = 1;
    public static final int AF_INET = 2;
    public static final int AF_INET6 = 10;
    public static final int AF_PACKET = 17;
    public static final int SOCK_DGRAM = 2;
    public static final int SOCK_RAW = 3;
    public static final int SOCK_SEQPACKET = 5;
    public static final int SOCK_NONBLOCK = 0x800;
    public static final int SOCK_CLOEXEC = 0x80000;

    // struct sockaddr_in
    public static final int SOCKADDR_IN_BYTES = 16;
    public static final int SIN_PORT = 2;
    public static final int SIN_ADDR = 4;

    // struct sockaddr_in6
    public static final int SOCKADDR_IN6_BYTES = 28;
    public static final int SIN6_ADDR = 8;
    public static final int SIN6_SCOPE_ID = 24;

    // struct iovec
    public static final int IOVEC_BYTES = 16;
    public static final int IOV_BASE = 0;
    public static final int IOV_LEN = 8;

    /// Elements of a list that one call takes.
    public static final int IOVECS_MAX = 1024;

    // struct mmsghdr: a struct msghdr and the length
    public static final int MMSGHDR_BYTES = 64;
    public static final int MSG_NAME = 0;
    public static final int MSG_NAMELEN = 8;
    public static final int MSG_IOV = 16;
    public static final int MSG_IOVLEN = 24;
    public static final int MSG_CONTROL = 32;
    public static final int MSG_CONTROLLEN = 40;
    public static final int MSG_FLAGS = 48;
    public static final int MSG_LEN = 56;

    // struct cmsghdr, and the results of CMSG_LEN and CMSG_SPACE for a 16-bit number and an int
    public static final int CMSG_LEN = 0;
    public static final int CMSG_LEVEL = 8;
    public static final int CMSG_TYPE = 12;
    public static final int CMSG_DATA = 16;
    public static final int CMSG_LEN_OF_SHORT = 18;
    public static final int CMSG_SPACE_OF_INT = 24;

    // struct ip_mreqn
    public static final int IP_MREQN_BYTES = 12;
    public static final int IMR_MULTIADDR = 0;
    public static final int IMR_ADDRESS = 4;
    public static final int IMR_IFINDEX = 8;

    // struct ipv6_mreq
    public static final int IPV6_MREQ_BYTES = 20;
    public static final int IPV6MR_INTERFACE = 16;

    public static final int MSG_DONTWAIT = 0x40;
    public static final int MSG_TRUNC = 0x20;
    public static final int MSG_PEEK = 0x2;
    public static final int MSG_NOSIGNAL = 0x4000;
    public static final int MSG_WAITFORONE = 0x10000;
    public static final int MSG_CMSG_CLOEXEC = 0x40000000;
    public static final int SCM_RIGHTS = 1;

    public static final int SOL_SOCKET = 1;
    public static final int SO_REUSEADDR = 2;
    /// The size of struct timex.
    public static final int TIMEX_BYTES = 208;
    /// adjtimex(2): nothing synchronizes the clock.
    public static final int TIME_ERROR = 5;

    public static final int SO_SNDBUF = 7;
    public static final int SO_RCVBUF = 8;
    public static final int SO_PEERCRED = 17;
    public static final int SO_RCVTIMEO = 20;
    public static final int SO_ATTACH_FILTER = 26;
    public static final int SO_SNDBUFFORCE = 32;
    public static final int SO_RCVBUFFORCE = 33;
    public static final int SO_MEMINFO = 55;

    // SO_MEMINFO gives nine 32-bit words.
    public static final int MEMINFO_WORDS = 9;
    public static final int MEMINFO_RMEM_ALLOC = 0;
    public static final int MEMINFO_WMEM_ALLOC = 2;
    public static final int MEMINFO_DROPS = 8;

    public static final int IPPROTO_IP = 0;
    public static final int IP_TOS = 1;
    public static final int IP_TTL = 2;
    public static final int IP_MTU_DISCOVER = 10;
    public static final int IP_RECVERR = 11;
    public static final int IP_MULTICAST_IF = 32;
    public static final int IP_MULTICAST_TTL = 33;
    public static final int IP_MULTICAST_LOOP = 34;
    public static final int IP_ADD_MEMBERSHIP = 35;
    public static final int IP_MULTICAST_ALL = 49;

    /// The caller writes the IP header itself.
    public static final int IPPROTO_RAW = 255;

    public static final int IPPROTO_IPV6 = 41;
    public static final int IPV6_UNICAST_HOPS = 16;
    public static final int IPV6_MULTICAST_IF = 17;
    public static final int IPV6_MULTICAST_HOPS = 18;
    public static final int IPV6_MULTICAST_LOOP = 19;
    public static final int IPV6_ADD_MEMBERSHIP = 20;
    public static final int IPV6_MTU_DISCOVER = 23;
    public static final int IPV6_RECVERR = 25;
    public static final int IPV6_V6ONLY = 26;
    public static final int IPV6_MULTICAST_ALL = 29;
    public static final int IPV6_TCLASS = 67;

    public static final int SOL_UDP = 17;
    public static final int UDP_SEGMENT = 103;
    public static final int UDP_GRO = 104;

    /// The kernel never fragments, and uses the interface's MTU: any host could forge a path MTU learnt from ICMP.
    public static final int PMTUDISC_PROBE = 3;

    /// Protocol of AF_PACKET sockets for incoming IPv4 packets, in network order.
    public static final int ETH_P_IP = 0x0008;

    // struct sock_filter, an instruction of classic BPF
    public static final int SOCK_FILTER_BYTES = 8;
    public static final int SOCK_FILTER_IF_TRUE = 2;
    public static final int SOCK_FILTER_IF_FALSE = 3;
    public static final int SOCK_FILTER_OPERAND = 4;

    // struct sock_fprog
    public static final int SOCK_FPROG_BYTES = 16;
    public static final int SOCK_FPROG_FILTER = 8;

    /// Asks when the kernel took the last packet that a socket received.
    public static final long SIOCGSTAMPNS = 0x8907;

    /// Asks how many sent bytes the other end of a local socket has not read.
    public static final long SIOCOUTQ = 0x5411;

    // struct timespec and struct timeval: seconds, then nanoseconds or microseconds
    public static final int TIMESPEC_BYTES = 16;
    public static final int TIMESPEC_NANOS = 8;
    public static final int TIMEVAL_MICROS = 8;
    public static final int CLOCK_PROCESS_CPUTIME_ID = 2;

    public static final int EPOLL_CLOEXEC = 0x80000;
    public static final int EPOLL_CTL_ADD = 1;
    public static final int EPOLLIN = 1;

    // struct epoll_event: packed on x86
    public static final int EPOLL_EVENT_BYTES = "aarch64".equals(System.getProperty("os.arch")) ? 16 : 12;
    public static final int EPOLL_DATA = EPOLL_EVENT_BYTES - 8;

    public static final int EFD_CLOEXEC = 0x80000;
    public static final int EFD_NONBLOCK = 0x800;

    // struct pollfd
    public static final int POLLFD_BYTES = 8;
    public static final int POLLFD_EVENTS = 4;
    public static final int POLLIN = 1;
    public static final int POLLHUP = 16;

    public static final int PROT_NONE = 0;
    public static final int PROT_READ = 1;
    public static final int PROT_READ_WRITE = 3;
    public static final int MAP_SHARED = 0x01;
    public static final int MAP_PRIVATE = 0x02;
    public static final int MAP_FIXED = 0x10;
    public static final int MAP_ANONYMOUS = 0x20;
    public static final int MAP_NORESERVE = 0x4000;
    public static final int MAP_POPULATE = 0x8000;
    public static final long MAP_FAILED = -1;
    public static final int MREMAP_MAYMOVE = 1;
    public static final int MREMAP_FIXED = 2;
    public static final int MFD_CLOEXEC = 1;
    public static final int MFD_ALLOW_SEALING = 2;
    public static final int F_ADD_SEALS = 1033;
    public static final int F_GET_SEALS = 1034;
    public static final int F_SEAL_SEAL = 1;
    public static final int F_SEAL_SHRINK = 2;
    public static final int F_SEAL_GROW = 4;
    public static final int F_SEAL_FUTURE_WRITE = 16;
    public static final int SEEK_END = 2;
    public static final int O_RDONLY = 0;
    public static final int O_RDWR = 2;
    public static final int O_CLOEXEC = 0x80000;
    public static final int O_NONBLOCK = 0x800;

    // Locks that belong to an open file, not to a process, and end with it.
    public static final int F_OFD_GETLK = 36;
    public static final int F_OFD_SETLK = 37;
    public static final int F_OFD_SETLKW = 38;
    public static final int F_WRLCK = 1;
    public static final int F_UNLCK = 2;

    // struct flock
    public static final int FLOCK_BYTES = 32;
    public static final int FLOCK_START = 8;
    public static final int FLOCK_LEN = 16;

    // Calls without a function in the C library.
    public static final int SYS_GET_MEMPOLICY = "aarch64".equals(System.getProperty("os.arch")) ? 236 : 239;
    public static final int SYS_SET_MEMPOLICY = "aarch64".equals(System.getProperty("os.arch")) ? 237 : 238;
    public static final int MPOL_DEFAULT = 0;
    public static final int MPOL_PREFERRED = 1;

    public static final int SIGKILL = 9;
    public static final int SIGCONT = 18;
    public static final int SIGSTOP = 19;

    public static final int EPERM = 1;
    public static final int EINTR = 4;
    public static final int EIO = 5;
    public static final int EBADF = 9;
    public static final int EAGAIN = 11;
    public static final int ENOMEM = 12;
    public static final int EACCES = 13;
    public static final int EFAULT = 14;
    public static final int ENODEV = 19;
    public static final int EINVAL = 22;
    public static final int EMFILE = 24;
    public static final int ENOTSOCK = 88;
    public static final int EMSGSIZE = 90;
    public static final int EOPNOTSUPP = 95;
    public static final int EAFNOSUPPORT = 97;
    public static final int EADDRINUSE = 98;
    public static final int EADDRNOTAVAIL = 99;
    public static final int ENETUNREACH = 101;
    public static final int ECONNRESET = 104;
    public static final int ENOBUFS = 105;
    public static final int ECONNREFUSED = 111;
    public static final int EHOSTUNREACH = 113;

    private static final Set<String> ARCHITECTURES = Set.of("amd64", "x86_64", "aarch64");

    private Linux() {}

    /// Whether this process can call the C library of a Linux with these numbers.
    public static boolean isPresent() {
        return unavailable().isEmpty();
    }

    /// Why this process cannot call the C library, as the end of a sentence; empty where it can.
    public static Optional<String> unavailable() {
        return unavailable(System.getProperty("os.name"), System.getProperty("os.arch"));
    }

    static Optional<String> unavailable(final String system, final String architecture) {
        if (!"Linux".equals(system) || !ARCHITECTURES.contains(architecture)) {
            return Optional.of("needs Linux on x86-64 or aarch64, this is " + system + " on " + architecture);
        }
        try {
            Libc.pageBytes();
            return Optional.empty();
        } catch (final LinkageError | IllegalCallerException e) {
            return Optional.of("cannot call the C library: " + e.getMessage());
        }
    }
}
