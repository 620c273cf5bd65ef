package io.framecast.engine.aeron;

import io.framecast.api.PortRange;
import io.framecast.api.error.ConfigException;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/// Picks a port for a socket that the media driver opens a moment later.
final class FreePort {
    private FreePort() {}

    /// @return 0 where the system is to pick one
    /// @throws ConfigException when none is free
    static int in(final PortRange ports, final InetAddress local) {
        if (ports.isAny()) {
            return 0;
        }
        for (int port = ports.first(); port <= ports.last(); port++) {
            if (isFree(new InetSocketAddress(local, port))) {
                return port;
            }
        }
        throw new ConfigException("unicast-ports: none of " + ports + " is free on " + local.getHostAddress()
                + "; widen the range, or stop what uses them");
    }

    private static boolean isFree(final InetSocketAddress address) {
        try (DatagramSocket socket = new DatagramSocket(null)) {
            socket.setReuseAddress(false);
            socket.bind(address);
            return true;
        } catch (final IOException _) {
            return false;
        }
    }
}
