package io.framecast.samples.demo;

import io.framecast.api.Channel;
import io.framecast.api.NodeConfig;
import io.framecast.api.error.ConfigException;
import io.framecast.samples.ChildOptions;
import io.framecast.samples.NodeOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// The plan of one run of the demo: the children's command lines, and how long they may stand still.
///
/// @param channel for all of them; frame-max is the frames' length
/// @param frameBytes length of a full frame
/// @param subscribers how many processes receive
/// @param seconds how long is published
/// @param checksContent whether the input is the test pattern, so that contents are known
/// @param input of the publisher, with `--input` and the options that cut and pace it
/// @param node settings passed on
public record DemoPlan(
        Channel channel,
        long frameBytes,
        int subscribers,
        double seconds,
        boolean checksContent,
        List<String> input,
        NodeOptions node) {
    static final int SUBSCRIBERS_MAX = 256;

    /// Java starts, devices open, subscribers join: seconds.
    private static final int JOIN_MAX_S = 30;

    /// Time for repairs and acknowledgements at the end, at a pace that even a lossy link with small datagrams
    /// keeps.
    private static final int LINGER_MIN_S = 15;

    private static final double LINGER_BYTES_PER_S = 5e6;
    private static final int GRACE_S = 10;

    /// A machine under load, or an emulated one, takes that long to start four processes.
    private static final int STAND_STILL_S = 60;

    public DemoPlan {
        if (subscribers < 1 || subscribers > SUBSCRIBERS_MAX) {
            throw new ConfigException("--subscribers: expected 1 … " + SUBSCRIBERS_MAX + ", got " + subscribers);
        }
        if (!(seconds > 0 && seconds <= 86_400 * 365)) {
            throw new ConfigException("--seconds: expected more than 0, got " + seconds);
        }
    }

    /// The same over another network interface.
    DemoPlan withInterface(final String name) {
        if (!(channel instanceof final Channel.Multicast group)) {
            return this;
        }
        final Channel placed = new Channel.Multicast(
                group.transport(),
                group.group(),
                group.name(),
                group.link().withNetworkInterface(name),
                group.stream());
        return new DemoPlan(placed, frameBytes, subscribers, seconds, checksContent, input, node);
    }

    List<String> publisherArguments() {
        final List<String> arguments = new ArrayList<>(List.of("publish", channel.toString()));
        arguments.addAll(input);
        arguments.addAll(List.of("--seconds", Double.toString(seconds)));
        arguments.addAll(List.of("--wait-subscribers", Integer.toString(subscribers)));
        arguments.addAll(List.of("--wait-timeout", Integer.toString(JOIN_MAX_S)));
        arguments.addAll(List.of("--linger", Long.toString(lingerS())));
        addNode(arguments, 0);
        if (node.seed() != null) {
            arguments.addAll(List.of("--seed", Long.toString(node.seed())));
        }
        return arguments;
    }

    /// @param index from 1
    /// @param own its channel
    List<String> subscriberArguments(final int index, final Channel own) {
        final List<String> arguments = new ArrayList<>(List.of("subscribe", own.toString()));
        // The publisher's limit counts, so that one line names the missing subscriber.
        arguments.addAll(List.of("--wait-timeout", Integer.toString(JOIN_MAX_S + GRACE_S)));
        if (checksContent) {
            arguments.addAll(List.of("--check-test", Long.toString(node.patternSeed())));
        }
        addNode(arguments, index);
        if (node.seed() != null) {
            // Equal seeds would make all subscribers lose the same datagrams and back off by the same times.
            arguments.addAll(List.of("--seed", Long.toString(node.seed() * 1_000_003 + index)));
        }
        return arguments;
    }

    private void addNode(final List<String> arguments, final int index) {
        arguments.addAll(List.of("--json", "-", ChildOptions.CHILD_OPTION));
        if (node.loss() != 0) {
            arguments.addAll(List.of("--loss", Double.toString(node.loss())));
        }
        if (node.verbose()) {
            arguments.add("--verbose");
        }
        final int port = node.metricsPort();
        if (port != NodeConfig.NO_METRICS) {
            arguments.addAll(List.of("--metrics-port", Integer.toString(port == 0 ? 0 : port + index)));
            arguments.addAll(List.of("--metrics-address", node.metricsAddress()));
        }
    }

    private long lingerS() {
        return LINGER_MIN_S + Math.round(frameBytes / LINGER_BYTES_PER_S);
    }

    /// When no child has come any further for so long, they hang: an input may pause for all of its time. How
    /// long the run takes is no sign: a machine may be a hundred times slower than another.
    public Duration quietMax() {
        return Duration.ofSeconds(STAND_STILL_S + JOIN_MAX_S + Math.round(Math.ceil(seconds)) + lingerS() + GRACE_S);
    }
}
