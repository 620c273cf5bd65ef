package io.framecast.engine.libc;

import static java.util.Map.entry;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Compares [Linux] with the C compiler of this machine.
final class LayoutTest {
    private static final String INCLUDES = """
            #include <errno.h>
            #include <sys/socket.h>
            #include <sys/uio.h>
            #include <netinet/in.h>
            #include <linux/sock_diag.h>
            #include <netinet/udp.h>
            #include <linux/filter.h>
            #include <linux/if_packet.h>
            #include <linux/if_ether.h>
            #include <linux/sockios.h>
            #include <arpa/inet.h>
            #include <poll.h>
            #include <signal.h>
            #include <sys/epoll.h>
            #include <sys/ioctl.h>
            #include <sys/un.h>
            #include <fcntl.h>
            #include <sys/eventfd.h>
            #include <sys/syscall.h>
            #include <linux/mempolicy.h>
            #include <sys/mman.h>
            #include <sys/time.h>
            #include <sys/timex.h>
            #include <time.h>
            #ifndef SOL_UDP
            #define SOL_UDP 17
            #endif
            #ifndef UDP_SEGMENT
            #define UDP_SEGMENT 103
            #endif
            #ifndef UDP_GRO
            #define UDP_GRO 104
            #endif
            #ifndef IPV6_MULTICAST_ALL
            #define IPV6_MULTICAST_ALL 29
            #endif
            #ifndef SO_MEMINFO
            #define SO_MEMINFO 55
            #endif
            """;

    // Names that are ours; all others are C's own.
    private static final Map<String, String> EXPRESSIONS = Map.ofEntries(
            entry("SOCKADDR_IN_BYTES", "sizeof(struct sockaddr_in)"),
            entry(
                    "SIN_PORT",
                    same("offsetof(struct sockaddr_in, sin_port)", "offsetof(struct sockaddr_in6, sin6_port)")),
            entry("SIN_ADDR", "offsetof(struct sockaddr_in, sin_addr)"),
            entry("SOCKADDR_IN6_BYTES", "sizeof(struct sockaddr_in6)"),
            entry("SIN6_ADDR", "offsetof(struct sockaddr_in6, sin6_addr)"),
            entry("SIN6_SCOPE_ID", "offsetof(struct sockaddr_in6, sin6_scope_id)"),
            entry("IOVEC_BYTES", "sizeof(struct iovec)"),
            entry("IOV_BASE", "offsetof(struct iovec, iov_base)"),
            entry("IOV_LEN", "offsetof(struct iovec, iov_len)"),
            entry("IOVECS_MAX", "UIO_MAXIOV"),
            entry("MMSGHDR_BYTES", "sizeof(struct mmsghdr)"),
            entry("MSG_NAME", "offsetof(struct mmsghdr, msg_hdr.msg_name)"),
            entry("MSG_NAMELEN", "offsetof(struct mmsghdr, msg_hdr.msg_namelen)"),
            entry("MSG_IOV", "offsetof(struct mmsghdr, msg_hdr.msg_iov)"),
            entry("MSG_IOVLEN", "offsetof(struct mmsghdr, msg_hdr.msg_iovlen)"),
            entry("MSG_CONTROL", "offsetof(struct mmsghdr, msg_hdr.msg_control)"),
            entry("MSG_CONTROLLEN", "offsetof(struct mmsghdr, msg_hdr.msg_controllen)"),
            entry("CMSG_LEN", "offsetof(struct cmsghdr, cmsg_len)"),
            entry("CMSG_LEVEL", "offsetof(struct cmsghdr, cmsg_level)"),
            entry("CMSG_TYPE", "offsetof(struct cmsghdr, cmsg_type)"),
            entry("CMSG_DATA", "sizeof(struct cmsghdr)"),
            entry("CMSG_LEN_OF_SHORT", "CMSG_LEN(sizeof(short))"),
            entry("CMSG_SPACE_OF_INT", same("CMSG_SPACE(sizeof(int))", "CMSG_SPACE(sizeof(short))")),
            entry("MSG_FLAGS", "offsetof(struct mmsghdr, msg_hdr.msg_flags)"),
            entry("MSG_LEN", "offsetof(struct mmsghdr, msg_len)"),
            entry("IP_MREQN_BYTES", "sizeof(struct ip_mreqn)"),
            entry(
                    "IMR_MULTIADDR",
                    same("offsetof(struct ip_mreqn, imr_multiaddr)", "offsetof(struct ipv6_mreq, ipv6mr_multiaddr)")),
            entry("IMR_IFINDEX", "offsetof(struct ip_mreqn, imr_ifindex)"),
            entry("IPV6_MREQ_BYTES", "sizeof(struct ipv6_mreq)"),
            entry("IPV6MR_INTERFACE", "offsetof(struct ipv6_mreq, ipv6mr_interface)"),
            entry("IMR_ADDRESS", "offsetof(struct ip_mreqn, imr_address)"),
            entry("ETH_P_IP", "htons(ETH_P_IP)"),
            entry("SOCK_FILTER_BYTES", "sizeof(struct sock_filter)"),
            entry("SOCK_FILTER_IF_TRUE", "offsetof(struct sock_filter, jt)"),
            entry("SOCK_FILTER_IF_FALSE", "offsetof(struct sock_filter, jf)"),
            entry("SOCK_FILTER_OPERAND", "offsetof(struct sock_filter, k)"),
            entry("SOCK_FPROG_BYTES", "sizeof(struct sock_fprog)"),
            entry("SOCK_FPROG_FILTER", "offsetof(struct sock_fprog, filter)"),
            entry("TIMESPEC_BYTES", same("sizeof(struct timespec)", "sizeof(struct timeval)")),
            entry("TIMESPEC_NANOS", "offsetof(struct timespec, tv_nsec)"),
            entry("TIMEVAL_MICROS", "offsetof(struct timeval, tv_usec)"),
            entry("TIMEX_BYTES", "sizeof(struct timex)"),
            entry("EPOLL_EVENT_BYTES", "sizeof(struct epoll_event)"),
            entry("EPOLL_DATA", "offsetof(struct epoll_event, data)"),
            entry("POLLFD_BYTES", "sizeof(struct pollfd)"),
            entry("POLLFD_EVENTS", "offsetof(struct pollfd, events)"),
            entry("FLOCK_BYTES", "sizeof(struct flock)"),
            entry("FLOCK_START", "offsetof(struct flock, l_start)"),
            entry("FLOCK_LEN", "offsetof(struct flock, l_len)"),
            entry("SYS_GET_MEMPOLICY", "SYS_get_mempolicy"),
            entry("SYS_SET_MEMPOLICY", "SYS_set_mempolicy"),
            entry("PROT_READ_WRITE", "PROT_READ | PROT_WRITE"),
            entry("MAP_FAILED", "(long) MAP_FAILED"),
            entry("MEMINFO_WORDS", "SK_MEMINFO_VARS"),
            entry("MEMINFO_RMEM_ALLOC", "SK_MEMINFO_RMEM_ALLOC"),
            entry("MEMINFO_WMEM_ALLOC", "SK_MEMINFO_WMEM_ALLOC"),
            entry("MEMINFO_DROPS", "SK_MEMINFO_DROPS"),
            entry("PMTUDISC_PROBE", same("IP_PMTUDISC_PROBE", "IPV6_PMTUDISC_PROBE")));

    // One number stands for two expressions of C.
    private static String same(final String one, final String other) {
        return one + " == " + other + " ? " + one + " : -1";
    }

    @TempDir
    Path directory;

    @Test
    void shouldAgreeWithTheCompiler() throws Exception {
        assumeTrue(Linux.isPresent(), () -> Linux.unavailable().orElse(""));
        final Map<String, String> expressions = new TreeMap<>();
        for (final String name : CProgram.names(Linux.class)) {
            expressions.put(name, EXPRESSIONS.getOrDefault(name, name));
        }
        assertTrue(expressions.keySet().containsAll(EXPRESSIONS.keySet()));
        CProgram.assertAgrees(CProgram.evaluate(directory, INCLUDES, expressions), Linux.class);
    }

    @Test
    void shouldSayWhyWhenTheSystemIsNotLinux() {
        assertTrue(Linux.unavailable("Windows 11", "amd64").orElseThrow().contains("Windows 11"));
        assertTrue(Linux.unavailable("Mac OS X", "aarch64").isPresent());
        assertTrue(Linux.unavailable("Linux", "riscv64").isPresent());
    }
}
