package io.framecast.perf.chaos;

import io.framecast.api.provider.PseudoFiles;
import io.framecast.samples.network.Shell;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// Soft-RoCE devices whose network interfaces are ends of veth pairs, with the other ends on a bridge, all of
/// them in this network namespace: Soft-RoCE knows no other. They were there before (rdma-transport/lab makes
/// them) and stay; what this puts on them is queueing disciplines (tc-netem) at both ends of each cable.
final class RdmaNetwork implements ChaosNetwork {
    private static final Path DEVICES = Path.of("/sys/class/infiniband");
    private static final Path INTERFACES = Path.of("/sys/class/net");
    private static final Pattern DROPPED = Pattern.compile("\\(dropped (\\d+),");
    private static final Pattern FLAGS = Pattern.compile("\\d+: .*<(.*)>.*");
    private static final double ALL = 1;
    // The run must do its faults in time; where a CPU is emulated those under test leave nothing of it.
    private static final List<String> BEHIND = List.of("nice", "-n", "5");

    private final List<Host> hosts;
    private final double loss;
    private final BatchTool tc = new BatchTool("tc");
    private final BatchTool ip = new BatchTool("ip", "-o");

    /// @param device RDMA device
    /// @param near its network interface
    /// @param far the other end of the cable
    private record Host(String device, String near, String far) {
        List<String> ends() {
            return List.of(near, far);
        }
    }

    private RdmaNetwork(final List<Host> hosts, final double loss) throws IOException {
        this.hosts = hosts;
        this.loss = loss;
    }

    /// Takes the first devices there are.
    ///
    /// @param hosts how many; the first is the source's
    /// @param loss share of datagrams lost at each end of each cable
    static RdmaNetwork make(final int hosts, final double loss) throws IOException {
        final List<Host> found = find();
        if (found.size() < hosts) {
            throw new IOException(found.size() + " RDMA devices on cables of veth, expected " + hosts);
        }
        final RdmaNetwork network = new RdmaNetwork(List.copyOf(found.subList(0, hosts)), loss);
        try {
            for (int host = 0; host < hosts; host++) {
                network.lose(host, loss);
            }
            return network;
        } catch (final IOException e) {
            network.close();
            throw e;
        }
    }

    private static List<Host> find() throws IOException {
        final List<Host> found = new ArrayList<>();
        for (final String device : names(DEVICES)) {
            final Path near = DEVICES.resolve(device).resolve("ports/1/gid_attrs/ndevs/0");
            if (Files.isReadable(near)) {
                final String name = text(near);
                far(name).ifPresent(far -> found.add(new Host(device, name, far)));
            }
        }
        return found;
    }

    // An interface's peer is one whose number it names, and that names its.
    private static Optional<String> far(final String near) throws IOException {
        final String own = text(INTERFACES.resolve(near).resolve("ifindex"));
        final String link = text(INTERFACES.resolve(near).resolve("iflink"));
        for (final String name : names(INTERFACES)) {
            final Path other = INTERFACES.resolve(name);
            if (!name.equals(near)
                    && text(other.resolve("ifindex")).equals(link)
                    && text(other.resolve("iflink")).equals(own)) {
                return Optional.of(name);
            }
        }
        return Optional.empty();
    }

    private static List<String> names(final Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            return List.of();
        }
        try (Stream<Path> entries = Files.list(directory)) {
            // Other files than interfaces may lie there.
            return entries.filter(Files::isDirectory)
                    .map(entry -> entry.getFileName().toString())
                    .sorted()
                    .toList();
        }
    }

    private static String text(final Path file) throws IOException {
        return PseudoFiles.read(file).strip();
    }

    @Override
    public void lose(final int host, final double share) throws IOException {
        for (final String end : hosts.get(host).ends()) {
            final String answer = tc.run(
                    // Longer than the usual queue, for what waits in it must not be lost too.
                    String.format(
                            Locale.ROOT, "qdisc replace dev %s root netem limit 100000 loss %.3f%%", end, share * 100),
                    "qdisc show dev " + end);
            if (!answer.startsWith("qdisc netem") || answer.contains("loss 100%") != (share == ALL)) {
                throw new IOException("the loss of " + end + " cannot be set: " + answer);
            }
        }
    }

    @Override
    public void plug(final int host, final boolean up) throws IOException {
        final String state = up ? "up" : "down";
        final String end = hosts.get(host).far();
        final String answer = ip.run("link set " + end + ' ' + state, "link show dev " + end);
        final Matcher flags = FLAGS.matcher(answer);
        if (!flags.matches() || List.of(flags.group(1).split(",")).contains("UP") != up) {
            throw new IOException(end + " cannot be set " + state + ": " + answer);
        }
    }

    private static long dropped(final String end) throws IOException {
        final Matcher matcher = DROPPED.matcher(Shell.run("tc", "-s", "qdisc", "show", "dev", end, "root"));
        return matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
    }

    @Override
    public String device(final int host) {
        return hosts.get(host).device();
    }

    @Override
    public List<String> within(final int host) {
        return BEHIND;
    }

    @Override
    public double loss() {
        return loss;
    }

    @Override
    public Path carrier(final int host, final long pid) {
        return INTERFACES.resolve(hosts.get(host).near()).resolve("carrier");
    }

    private List<String> ends() {
        return hosts.stream().flatMap(host -> host.ends().stream()).toList();
    }

    @Override
    public long dropped() throws IOException {
        long sum = 0;
        for (final String end : ends()) {
            sum += dropped(end);
        }
        return sum;
    }

    @Override
    public List<String> leftovers() throws IOException {
        final List<String> left = new ArrayList<>();
        for (final String end : ends()) {
            if (Shell.run("tc", "qdisc", "show", "dev", end, "root").contains("netem")) {
                left.add("the faults of " + end);
            }
        }
        return left;
    }

    @Override
    public void close() {
        tc.close();
        ip.close();
        for (final String end : ends()) {
            try {
                Shell.run("tc", "qdisc", "delete", "dev", end, "root");
            } catch (final IOException e) {
                // There was none; leftovers() reports other failures.
            }
        }
    }
}
