package io.framecast.engine.topology;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// A file system with the parts of sysfs and procfs that [Topology] reads.
public final class FakeHost {
    /// Behind one switch of the first socket with [#GPU_1] and `eth0`.
    public static final String GPU_0 = "0000:19:00.0";
    /// Behind a second switch below the first.
    public static final String GPU_1 = "0000:1d:00.0";
    /// On the second socket, behind one switch with `eth1`.
    public static final String GPU_2 = "0000:b1:00.0";
    /// On the second socket, at a root port of its own.
    public static final String GPU_3 = "0000:c1:00.0";

    private static final String SWITCH_0 = "pci0000:16/0000:16:00.0/0000:17:00.0/";
    private static final String SWITCH_1 = "pci0000:ae/0000:ae:00.0/0000:af:00.0/";

    private final Path root;

    public FakeHost(final Path root) {
        this.root = root;
    }

    /// Two sockets with four GPUs, and two network interfaces that are up, one behind a switch of each socket:
    ///
    /// ```
    /// socket 0  switch ── GPU 0, eth0, switch ── GPU 1         root port ── eth2 (down)
    /// socket 1  switch ── GPU 2, eth1         root port ── GPU 3
    /// ```
    public static FakeHost twoSockets(final Path root) throws IOException {
        final FakeHost host = new FakeHost(root);
        host.node(0, "0-3");
        host.node(1, "4-7");
        host.allow("0-7");
        host.gpu(SWITCH_0 + "0000:18:00.0/" + GPU_0, "0");
        host.gpu(SWITCH_0 + "0000:18:04.0/0000:1b:00.0/0000:1c:00.0/" + GPU_1, "0");
        host.nic("eth0", SWITCH_0 + "0000:18:08.0/0000:1a:00.0", "0", "up");
        host.rdma("mlx5_0", SWITCH_0 + "0000:18:08.0/0000:1a:00.0");
        host.nic("eth2", "pci0000:16/0000:16:02.0/0000:1f:00.0", "0", "down");
        host.gpu(SWITCH_1 + "0000:b0:00.0/" + GPU_2, "1");
        host.nic("eth1", SWITCH_1 + "0000:b0:08.0/0000:b2:00.0", "1", "up");
        host.gpu("pci0000:ae/0000:ae:02.0/" + GPU_3, "1");
        host.virtual("lo", "0x9", "unknown");
        return host;
    }

    public Topology topology() {
        return Topology.at(root);
    }

    public void write(final String file, final String text) throws IOException {
        final Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }

    private void link(final String from, final String to) throws IOException {
        final Path path = root.resolve(from);
        Files.createDirectories(path.getParent());
        Files.createSymbolicLink(path, path.getParent().relativize(root.resolve(to)));
    }

    public void node(final int id, final String cpus) throws IOException {
        final String directory = "sys/devices/system/node/node" + id;
        write(directory + "/cpulist", cpus + "\n");
        write(directory + "/meminfo", "Node " + id + " MemTotal:       16777216 kB\nNode " + id + " MemFree:  1 kB\n");
    }

    public void allow(final String cpus) throws IOException {
        write("proc/self/status", "Name:\tjava\nCpus_allowed:\tff\nCpus_allowed_list:\t" + cpus + "\n");
    }

    /// @param path below `sys/devices`
    public void function(final String path, final String node, final String vendor, final String type)
            throws IOException {
        final String directory = "sys/devices/" + path;
        write(directory + "/numa_node", node + "\n");
        write(directory + "/vendor", vendor + "\n");
        write(directory + "/class", type + "\n");
        link("sys/bus/pci/devices/" + path.substring(path.lastIndexOf('/') + 1), directory);
    }

    public void gpu(final String path, final String node) throws IOException {
        function(path, node, "0x10de", "0x030200");
    }

    public void nic(final String name, final String path, final String node, final String state) throws IOException {
        function(path, node, "0x15b3", "0x020000");
        attach(name, path, state);
    }

    /// An interface of a function that is there.
    public void attach(final String name, final String path, final String state) throws IOException {
        final String directory = "sys/devices/" + path + "/net/" + name;
        write(directory + "/operstate", state + "\n");
        write(directory + "/flags", "0x1003\n");
        link(directory + "/device", "sys/devices/" + path);
        link("sys/class/net/" + name, directory);
    }

    private void rdma(final String name, final String path) throws IOException {
        final String directory = "sys/devices/" + path + "/infiniband/" + name;
        Files.createDirectories(root.resolve(directory));
        link(directory + "/device", "sys/devices/" + path);
        link("sys/class/infiniband/" + name, directory);
    }

    public void virtual(final String name, final String flags, final String state) throws IOException {
        final String directory = "sys/devices/virtual/net/" + name;
        write(directory + "/operstate", state + "\n");
        write(directory + "/flags", flags + "\n");
        link("sys/class/net/" + name, directory);
    }

    /// That one interface stands on another.
    public void lower(final String upper, final String lower) throws IOException {
        link("sys/devices/virtual/net/" + upper + "/lower_" + lower, "sys/class/net/" + lower);
    }

    public void bridge(final String name) throws IOException {
        virtual(name, "0x1003", "up");
        Files.createDirectories(root.resolve("sys/devices/virtual/net/" + name + "/bridge"));
    }
}
