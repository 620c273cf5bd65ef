package io.framecast.engine.udp;

import static java.util.Map.entry;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SocketLayoutsTest {
    private static final String INCLUDES = """
            #include <errno.h>
            #include <sys/socket.h>
            #include <sys/uio.h>
            #include <netinet/in.h>
            #include <linux/sock_diag.h>
            #include <netinet/udp.h>
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
            entry("SIN_PORT", "offsetof(struct sockaddr_in, sin_port)"),
            entry("SIN_ADDR", "offsetof(struct sockaddr_in, sin_addr)"),
            entry("SOCKADDR_IN6_BYTES", "sizeof(struct sockaddr_in6)"),
            entry("SIN6_PORT", "offsetof(struct sockaddr_in6, sin6_port)"),
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
            entry(
                    "CMSG_SPACE_OF_INT",
                    "CMSG_SPACE(sizeof(int)) == CMSG_SPACE(sizeof(short)) ? CMSG_SPACE(sizeof(int)) : -1"),
            entry("MSG_FLAGS", "offsetof(struct mmsghdr, msg_hdr.msg_flags)"),
            entry("MSG_LEN", "offsetof(struct mmsghdr, msg_len)"),
            entry("IP_MREQN_BYTES", "sizeof(struct ip_mreqn)"),
            entry("IMR_MULTIADDR", "offsetof(struct ip_mreqn, imr_multiaddr)"),
            entry("IMR_IFINDEX", "offsetof(struct ip_mreqn, imr_ifindex)"),
            entry("IPV6_MREQ_BYTES", "sizeof(struct ipv6_mreq)"),
            entry("IPV6MR_MULTIADDR", "offsetof(struct ipv6_mreq, ipv6mr_multiaddr)"),
            entry("IPV6MR_INTERFACE", "offsetof(struct ipv6_mreq, ipv6mr_interface)"),
            entry("MEMINFO_WORDS", "SK_MEMINFO_VARS"),
            entry("MEMINFO_RMEM_ALLOC", "SK_MEMINFO_RMEM_ALLOC"),
            entry("MEMINFO_DROPS", "SK_MEMINFO_DROPS"),
            entry("PMTUDISC_PROBE", "IP_PMTUDISC_PROBE == IPV6_PMTUDISC_PROBE ? IP_PMTUDISC_PROBE : -1"));

    @TempDir
    Path directory;

    @Test
    void shouldAgreeWithTheCompiler() throws Exception {
        UdpTests.assumeUdp();
        final Map<String, String> expressions = new TreeMap<>();
        for (final String name : CProgram.names(SocketLayouts.class)) {
            expressions.put(name, EXPRESSIONS.getOrDefault(name, name));
        }
        assertTrue(expressions.keySet().containsAll(EXPRESSIONS.keySet()));
        CProgram.assertAgrees(CProgram.evaluate(directory, INCLUDES, expressions), SocketLayouts.class);
    }
}
