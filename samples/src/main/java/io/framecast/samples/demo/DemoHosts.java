package io.framecast.samples.demo;

import io.framecast.api.Channel;
import io.framecast.api.SourceOptions;
import io.framecast.api.error.ConfigException;
import io.framecast.samples.network.NamespaceNeeds;
import io.framecast.samples.network.Namespaces;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/// The hosts of the demo, whose subscribers are a host group each: network namespaces on a bridge where these can be
/// made, else names of groups on this machine's loopback. Without hosts every subscriber is on its own.
final class DemoHosts implements AutoCloseable {
    /// Subscribers that are no groups, on this machine.
    static final DemoHosts NONE = new DemoHosts(0, 0, "", List.of(), () -> {});

    private static final int MTU_BYTES = 1500;
    private static final String ADDRESSES = "10.79.0.";

    private final int hosts;
    private final int subscribers;
    private final String source;
    private final List<String> namespaces;
    private final Runnable end;

    private DemoHosts(
            final int hosts,
            final int subscribers,
            final String source,
            final List<String> namespaces,
            final Runnable end) {
        this.hosts = hosts;
        this.subscribers = subscribers;
        this.source = source;
        this.namespaces = namespaces;
        this.end = end;
    }

    /// @param lines takes why the hosts are none of their own
    static DemoHosts make(final int hosts, final int subscribers, final Consumer<String> lines) {
        final String missing = NamespaceNeeds.missing(NamespaceNeeds.Tool.IP);
        if (!missing.isEmpty()) {
            return onLoopback(hosts, subscribers, missing, lines);
        }
        final Namespaces made = new Namespaces();
        try {
            Namespaces.deleteAbandoned();
            final String bridge = made.addBridge("net");
            final List<String> names = new ArrayList<>();
            for (int i = 0; i <= hosts; i++) {
                final String name = made.add("h" + i);
                Namespaces.join(name, bridge, "p" + i, MTU_BYTES);
                Namespaces.configure(name, ADDRESSES + (i + 1));
                names.add(name);
            }
            return new DemoHosts(hosts, subscribers, names.getFirst(), names.subList(1, names.size()), made::close);
        } catch (final IOException e) {
            made.close();
            return onLoopback(hosts, subscribers, String.valueOf(e.getMessage()), lines);
        }
    }

    private static DemoHosts onLoopback(
            final int hosts, final int subscribers, final String why, final Consumer<String> lines) {
        lines.accept("hosts: no network namespaces can be made here (" + why + "), so all are on the loopback");
        return new DemoHosts(hosts, subscribers, "", List.of(), () -> {});
    }

    /// @throws ConfigException naming the option, when the numbers do not fit
    static void check(final int hosts, final int subscribers) {
        if (hosts < 1 || hosts > subscribers) {
            throw new ConfigException("--hosts: expected 1 … " + subscribers + ", the subscribers, got " + hosts);
        }
    }

    private int host(final int subscriber) {
        return (subscriber - 1) * hosts / subscribers;
    }

    List<String> sourcePrefix() {
        return source.isEmpty() ? List.of() : Namespaces.within(source);
    }

    /// @param subscriber from 1
    List<String> prefix(final int subscriber) {
        return namespaces.isEmpty() ? List.of() : Namespaces.within(namespaces.get(host(subscriber)));
    }

    /// The interface of all, unless they are on the loopback.
    String networkInterface(final String otherwise) {
        return namespaces.isEmpty() ? otherwise : Namespaces.DEVICE;
    }

    Channel channel(final int subscriber, final Channel channel) {
        final SourceOptions sources = channel.stream().sources();
        return hosts > 0
                ? channel.withStream(
                        channel.stream().withSources(sources.withHostGroup("demo" + (host(subscriber) + 1))))
                : channel;
    }

    /// Subscribers of each host, from 1.
    List<List<Integer>> groups() {
        return IntStream.range(0, hosts)
                .mapToObj(host -> IntStream.rangeClosed(1, subscribers)
                        .filter(subscriber -> host(subscriber) == host)
                        .boxed()
                        .toList())
                .toList();
    }

    @Override
    public void close() {
        end.run();
    }
}
