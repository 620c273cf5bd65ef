package io.framecast.engine.udp;

/// Numbers of the Linux socket interface on 64-bit x86 and ARM, which agree: sizes and offsets of structs, options,
/// flags, errors. Each is compared with a compiled C program by a test.
final class SocketLayouts {
    static final int AF_INET = 2;
    static final int AF_INET6 = 10;
    static final int SOCK_DGRAM = 2;
    static final int SOCK_NONBLOCK = 0x800;
    static final int SOCK_CLOEXEC = 0x80000;

    // struct sockaddr_in
    static final int SOCKADDR_IN_BYTES = 16;
    static final int SIN_PORT = 2;
    static final int SIN_ADDR = 4;

    // struct sockaddr_in6
    static final int SOCKADDR_IN6_BYTES = 28;
    static final int SIN6_PORT = 2;
    static final int SIN6_ADDR = 8;
    static final int SIN6_SCOPE_ID = 24;

    // struct iovec
    static final int IOVEC_BYTES = 16;
    static final int IOV_BASE = 0;
    static final int IOV_LEN = 8;

    /// Elements of a list that one call takes.
    static final int IOVECS_MAX = 1024;

    // struct mmsghdr: a struct msghdr and the length
    static final int MMSGHDR_BYTES = 64;
    static final int MSG_NAME = 0;
    static final int MSG_NAMELEN = 8;
    static final int MSG_IOV = 16;
    static final int MSG_IOVLEN = 24;
    static final int MSG_CONTROL = 32;
    static final int MSG_CONTROLLEN = 40;
    static final int MSG_FLAGS = 48;
    static final int MSG_LEN = 56;

    // struct cmsghdr, and what CMSG_LEN and CMSG_SPACE make of a 16-bit number and an int
    static final int CMSG_LEN = 0;
    static final int CMSG_LEVEL = 8;
    static final int CMSG_TYPE = 12;
    static final int CMSG_DATA = 16;
    static final int CMSG_LEN_OF_SHORT = 18;
    static final int CMSG_SPACE_OF_INT = 24;

    // struct ip_mreqn
    static final int IP_MREQN_BYTES = 12;
    static final int IMR_MULTIADDR = 0;
    static final int IMR_IFINDEX = 8;

    // struct ipv6_mreq
    static final int IPV6_MREQ_BYTES = 20;
    static final int IPV6MR_MULTIADDR = 0;
    static final int IPV6MR_INTERFACE = 16;

    static final int MSG_DONTWAIT = 0x40;
    static final int MSG_TRUNC = 0x20;

    static final int SOL_SOCKET = 1;
    static final int SO_REUSEADDR = 2;
    static final int SO_SNDBUF = 7;
    static final int SO_RCVBUF = 8;
    static final int SO_SNDBUFFORCE = 32;
    static final int SO_RCVBUFFORCE = 33;
    static final int SO_MEMINFO = 55;

    // What SO_MEMINFO gives: nine 32-bit words.
    static final int MEMINFO_WORDS = 9;
    static final int MEMINFO_RMEM_ALLOC = 0;
    static final int MEMINFO_DROPS = 8;

    static final int IPPROTO_IP = 0;
    static final int IP_TOS = 1;
    static final int IP_MTU_DISCOVER = 10;
    static final int IP_RECVERR = 11;
    static final int IP_MULTICAST_IF = 32;
    static final int IP_MULTICAST_TTL = 33;
    static final int IP_MULTICAST_LOOP = 34;
    static final int IP_ADD_MEMBERSHIP = 35;
    static final int IP_MULTICAST_ALL = 49;

    static final int IPPROTO_IPV6 = 41;
    static final int IPV6_MULTICAST_IF = 17;
    static final int IPV6_MULTICAST_HOPS = 18;
    static final int IPV6_MULTICAST_LOOP = 19;
    static final int IPV6_ADD_MEMBERSHIP = 20;
    static final int IPV6_MTU_DISCOVER = 23;
    static final int IPV6_RECVERR = 25;
    static final int IPV6_V6ONLY = 26;
    static final int IPV6_MULTICAST_ALL = 29;
    static final int IPV6_TCLASS = 67;

    static final int SOL_UDP = 17;
    static final int UDP_SEGMENT = 103;
    static final int UDP_GRO = 104;

    /// Never fragment, and go by the interface's MTU: a path MTU learnt from ICMP could be forged by anybody.
    static final int PMTUDISC_PROBE = 3;

    static final int EPERM = 1;
    static final int EINTR = 4;
    static final int EIO = 5;
    static final int EBADF = 9;
    static final int EAGAIN = 11;
    static final int ENOMEM = 12;
    static final int EACCES = 13;
    static final int EFAULT = 14;
    static final int ENODEV = 19;
    static final int EINVAL = 22;
    static final int EMFILE = 24;
    static final int ENOTSOCK = 88;
    static final int EMSGSIZE = 90;
    static final int EOPNOTSUPP = 95;
    static final int EAFNOSUPPORT = 97;
    static final int EADDRINUSE = 98;
    static final int EADDRNOTAVAIL = 99;
    static final int ENETUNREACH = 101;
    static final int ENOBUFS = 105;
    static final int EHOSTUNREACH = 113;

    private SocketLayouts() {}
}
