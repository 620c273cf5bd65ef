package io.framecast.samples.network;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The network namespaces of a run, each a host of its own. Their names carry this process's number, so that
/// runs do not meet; the next run deletes namespaces that a killed run left behind.
public final class Namespaces implements AutoCloseable {
    /// The interface of every host.
    public static final String DEVICE = "eth0";

    private static final Pattern NAME = Pattern.compile("fcn(\\d+)x.*");
    private static final AtomicInteger RUNS = new AtomicInteger();

    private final String id = "fcn" + ProcessHandle.current().pid() + "x" + RUNS.getAndIncrement() + "x";
    private final List<String> names = new ArrayList<>();
    private boolean closed;

    /// Deletes namespaces of processes that are gone.
    public static void deleteAbandoned() throws IOException {
        for (final String name : list()) {
            final Matcher matcher = NAME.matcher(name);
            if (matcher.matches()
                    && ProcessHandle.of(Long.parseLong(matcher.group(1))).isEmpty()) {
                Shell.run("ip", "netns", "delete", name);
            }
        }
    }

    private static List<String> list() throws IOException {
        return Shell.run("ip", "netns", "list")
                .lines()
                .map(line -> line.split(" ", 2)[0])
                .toList();
    }

    /// Adds a host.
    ///
    /// @return the name of its namespace
    /// @throws IOException when that fails; the message is one line
    public synchronized String add(final String host) throws IOException {
        if (closed) {
            throw new IOException("stopped");
        }
        // Known first: a host whose making fails half-way is deleted all the same.
        final String name = id + host;
        names.add(name);
        Shell.run("ip", "netns", "add", name);
        Shell.run("ip", "-n", name, "link", "set", "lo", "up");
        return name;
    }

    /// Adds a bridge that floods multicast, in a namespace of its own.
    public String addBridge(final String host) throws IOException {
        final String name = add(host);
        Shell.run("ip", "-n", name, "link", "add", "bridge", "type", "bridge", "mcast_snooping", "0");
        Shell.run("ip", "-n", name, "link", "set", "bridge", "up");
        return name;
    }

    /// Joins a host's [#DEVICE] to a bridge.
    ///
    /// @param port the bridge's end
    public static void join(final String host, final String bridge, final String port, final int mtuBytes)
            throws IOException {
        connect(host, bridge, port, mtuBytes);
        Shell.run("ip", "-n", bridge, "link", "set", port, "master", "bridge", "up");
    }

    /// Connects a host's [#DEVICE] to another host by a pair of interfaces.
    ///
    /// @param peer the other host's interface
    public static void connect(final String host, final String other, final String peer, final int mtuBytes)
            throws IOException {
        final String mtu = Integer.toString(mtuBytes);
        Shell.run(
                "ip", "link", "add", DEVICE, "netns", host, "mtu", mtu, "type", "veth", "peer", "name", peer, "netns",
                other, "mtu", mtu);
    }

    /// Gives a host's [#DEVICE] its address and the route of multicast.
    public static void configure(final String host, final String address) throws IOException {
        Shell.run("ip", "-n", host, "address", "add", address + "/24", "dev", DEVICE);
        Shell.run("ip", "-n", host, "link", "set", DEVICE, "up");
        Shell.run("ip", "-n", host, "route", "add", "224.0.0.0/4", "dev", DEVICE);
    }

    /// The command that runs another on a host, in the same process.
    public static List<String> within(final String host) {
        return List.of("ip", "netns", "exec", host);
    }

    /// Runs a command on a host.
    ///
    /// @return its output
    public static String run(final String host, final String... command) throws IOException {
        final List<String> words = new ArrayList<>(within(host));
        words.addAll(List.of(command));
        return Shell.run(words.toArray(String[]::new));
    }

    /// Replaces a host's table of filter rules.
    ///
    /// @param rules of nftables; empty for none
    /// @return the output of nft
    public static String filter(final String host, final String table, final String rules) throws IOException {
        final String fresh = "add table inet " + table + "; delete table inet " + table + "; ";
        return run(host, "nft", fresh + rules);
    }

    /// The namespaces of this run that exist; none after [#close].
    public List<String> leftovers() throws IOException {
        return list().stream().filter(name -> name.startsWith(id)).toList();
    }

    @Override
    public synchronized void close() {
        closed = true;
        for (final String name : names) {
            try {
                Shell.run("ip", "netns", "delete", name);
            } catch (final IOException e) {
                // The host was never made; leftovers() reports any other failure.
            }
        }
        names.clear();
    }
}
