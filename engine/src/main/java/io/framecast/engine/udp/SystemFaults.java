package io.framecast.engine.udp;

import io.framecast.api.error.TransportException;
import io.framecast.engine.libc.Linux;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/// Reports the system's refusals during a stream to the operator: one line for each kind of error of a transport,
/// repeated after a minute at the earliest. Lanes count every error, and go on.
///
/// Threading: the lanes' threads, of which a transport has one as a rule; two at once may report a line twice.
final class SystemFaults {
    private static final int ERRNO_MAX = 256;
    private static final long REPEAT_NS = TimeUnit.MINUTES.toNanos(1);

    private final String interfaceName;
    private final long patienceNs;
    private final Consumer<String> notices;
    private final long[] reportedNs = new long[ERRNO_MAX];
    private final boolean[] reported = new boolean[ERRNO_MAX];

    /// @param patienceNs time without a passing datagram of a lane's length after which the lane fails
    SystemFaults(final String interfaceName, final long patienceNs, final Consumer<String> notices) {
        this.interfaceName = interfaceName;
        this.patienceNs = patienceNs;
        this.notices = notices;
    }

    /// The system refused a datagram, or to receive.
    ///
    /// @param datagramBytes its length, header included
    void onFault(final int errno, final int datagramBytes, final long nowNs) {
        final int index = Math.clamp(errno, 0, ERRNO_MAX - 1);
        if (reported[index] && nowNs - reportedNs[index] < REPEAT_NS) {
            return;
        }
        reported[index] = true;
        reportedNs[index] = nowNs;
        notices.accept("udp: " + describe(errno, datagramBytes));
    }

    /// Datagrams were refused for their length from `sinceNs` on.
    ///
    /// @throws TransportException when that has lasted too long to be waited for
    void requirePatience(final int datagramBytes, final long sinceNs, final long nowNs) {
        if (nowNs - sinceNs > patienceNs) {
            throw new TransportException("udp: given up: " + tooLong(datagramBytes));
        }
    }

    private String describe(final int errno, final int datagramBytes) {
        return errno == Linux.EMSGSIZE
                ? tooLong(datagramBytes)
                : interfaceName + " refuses datagrams (error " + errno + "), which are lost until they are sent again: "
                        + howToFix(errno);
    }

    private String howToFix(final int errno) {
        if (!isUp()) {
            return "it is down or gone; run ip link set " + interfaceName + " up";
        }
        return switch (errno) {
            case Linux.EPERM, Linux.EACCES -> "a firewall drops them; look at nft list ruleset";
            case Linux.ENETUNREACH, Linux.EHOSTUNREACH, Linux.EADDRNOTAVAIL ->
                "it has lost its address or route; look at ip address show " + interfaceName
                        + " (IPv6 addresses go when an interface goes down, see keep_addr_on_down)";
            default -> "see errno(3)";
        };
    }

    private String tooLong(final int datagramBytes) {
        final int mtuBytes = mtuBytes();
        return "datagrams of " + datagramBytes + " bytes do not pass " + interfaceName
                + (mtuBytes > 0 ? ", whose MTU is " + mtuBytes + " now" : " any longer")
                + "; raise it, or publish anew with a smaller mtu=";
    }

    private boolean isUp() {
        try {
            final NetworkInterface current = NetworkInterface.getByName(interfaceName);
            return current != null && current.isUp();
        } catch (final SocketException e) {
            return false;
        }
    }

    private int mtuBytes() {
        try {
            final NetworkInterface current = NetworkInterface.getByName(interfaceName);
            return current == null ? 0 : current.getMTU();
        } catch (final SocketException e) {
            return 0;
        }
    }
}
