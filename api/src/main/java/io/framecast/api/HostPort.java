package io.framecast.api;

import java.net.InetAddress;
import java.net.UnknownHostException;

/// A literal IP address and a port. Never looked up in DNS.
///
/// @param host IPv4 `224.20.30.39` or IPv6 `ff12::a`, as text without brackets
/// @param port 1 … 65535
public record HostPort(String host, int port) {
    public HostPort {
        if (!isLiteral(host)) {
            throw new IllegalArgumentException("expected a literal IP address, got " + host);
        }
        if (port < 1 || port > 65_535) {
            throw new IllegalArgumentException("expected a port 1 … 65535, got " + port);
        }
    }

    /// Parses `1.2.3.4:5` or `[ff12::a]:5`.
    public static HostPort parse(final String text) {
        final int colon = text.lastIndexOf(':');
        if (colon <= 0) {
            throw new IllegalArgumentException("expected address:port, got " + text);
        }
        final String host = text.substring(0, colon);
        final boolean bracketed = host.startsWith("[") && host.endsWith("]");
        if (!bracketed && host.indexOf(':') >= 0) {
            throw new IllegalArgumentException("expected [address]:port for IPv6, got " + text);
        }
        final int port;
        try {
            port = Integer.parseInt(text.substring(colon + 1));
        } catch (final NumberFormatException e) {
            throw new IllegalArgumentException("expected a port number, got " + text.substring(colon + 1), e);
        }
        return new HostPort(bracketed ? host.substring(1, host.length() - 1) : host, port);
    }

    public InetAddress address() {
        try {
            return InetAddress.getByName(host);
        } catch (final UnknownHostException e) {
            throw new IllegalStateException("checked when made: " + host, e);
        }
    }

    public boolean isMulticast() {
        return address().isMulticastAddress();
    }

    private static boolean isLiteral(final String host) {
        try {
            InetAddress.ofLiteral(host);
            return true;
        } catch (final IllegalArgumentException e) {
            return false;
        }
    }

    @Override
    public String toString() {
        return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
    }
}
