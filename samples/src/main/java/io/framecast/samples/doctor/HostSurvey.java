package io.framecast.samples.doctor;

import io.framecast.api.provider.PseudoFiles;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import io.framecast.rdma.RdmaSurvey.Finding;
import io.framecast.samples.network.Capabilities;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.function.IntSupplier;
import java.util.stream.Stream;

/// The survey of this host for streams over sockets: socket buffers, CPU governor, clock, JVM flags.
final class HostSurvey {
    // The size that a data lane asks for, and the size below which frames of some megabytes arrive in bursts.
    private static final long RECEIVE_BYTES = 8L << 20;
    private static final long RECEIVE_BYTES_MIN = 4L << 20;
    private static final long SEND_BYTES_MIN = 1L << 20;
    private static final String PERFORMANCE = "performance";

    private final Path root;
    private final List<Finding> findings = new ArrayList<>();

    private HostSurvey(final Path root) {
        this.root = root;
    }

    /// Never throws.
    static List<Finding> look() {
        return look(Path.of("/"), HostSurvey::clockState);
    }

    /// @param root the file system
    /// @param clock the clock's state, as adjtimex(2) returns it
    static List<Finding> look(final Path root, final IntSupplier clock) {
        final HostSurvey survey = new HostSurvey(root);
        survey.buffer("receive buffers", "net.core.rmem_max", RECEIVE_BYTES_MIN, RECEIVE_BYTES);
        survey.buffer("send buffers", "net.core.wmem_max", SEND_BYTES_MIN, SEND_BYTES_MIN);
        survey.governor();
        survey.clock(clock);
        survey.flags();
        return List.copyOf(survey.findings);
    }

    private void good(final String what) {
        findings.add(new Finding(true, what, ""));
    }

    private void bad(final String what, final String fix) {
        findings.add(new Finding(false, what, fix));
    }

    private String read(final String file) {
        return PseudoFiles.readOrEmpty(root.resolve(file));
    }

    private void buffer(final String what, final String name, final long bytesMin, final long bytesWanted) {
        final String text = read("proc/sys/" + name.replace('.', '/'));
        if (!text.matches("\\d{1,18}")) {
            good(what + ": limit unknown");
            return;
        }
        final long bytes = Long.parseLong(text);
        if (bytes >= bytesMin) {
            good(what + ": " + name + " is " + bytes + " bytes");
        } else if (mayForce()) {
            good(what + ": " + name + " is " + bytes + " bytes, lifted by CAP_NET_ADMIN");
        } else {
            bad(
                    what + ": " + name + " is " + bytes + " bytes, so bursts are lost",
                    "sysctl -w " + name + "=" + bytesWanted + ", and the same line in /etc/sysctl.d to keep it");
        }
    }

    private boolean mayForce() {
        return Capabilities.of(read("proc/self/status")).has(Capabilities.NET_ADMIN);
    }

    private void governor() {
        final TreeSet<String> governors = new TreeSet<>();
        try (Stream<Path> cpus = Files.list(root.resolve("sys/devices/system/cpu"))) {
            cpus.map(cpu -> root.relativize(cpu).resolve("cpufreq/scaling_governor"))
                    .map(file -> read(file.toString()))
                    .filter(name -> !name.isEmpty())
                    .forEach(governors::add);
        } catch (final IOException | UncheckedIOException _) {
            // Reported below.
        }
        if (governors.isEmpty()) {
            good("CPU governor: none here, as in most virtual machines");
        } else if (governors.stream().allMatch(PERFORMANCE::equals)) {
            good("CPU governor: " + PERFORMANCE);
        } else {
            bad(
                    "CPU governor: " + String.join(", ", governors) + ", so a frame after a pause is late",
                    "cpupower frequency-set -g " + PERFORMANCE);
        }
    }

    private void clock(final IntSupplier state) {
        final String source = read("sys/devices/system/clocksource/clocksource0/current_clocksource");
        if (source.equals("hpet") || source.equals("acpi_pm")) {
            bad(
                    "clock: source " + source + ", which takes a microsecond for each reading",
                    "boot with tsc=reliable if the processor's clock is; see dmesg | grep -i tsc");
        }
        final int found = state.getAsInt();
        if (found == Linux.TIME_ERROR) {
            bad(
                    "clock: nothing synchronizes it, so latencies between hosts are off by its error",
                    "install chrony, or PTP for less than a millisecond");
        } else {
            good("clock: " + (found < 0 ? "state unknown" : "synchronized") + (source.isEmpty() ? "" : ", " + source));
        }
    }

    private static int clockState() {
        if (Linux.unavailable().isPresent()) {
            return -1;
        }
        try (Arena arena = Arena.ofConfined()) {
            return Libc.adjtimex(arena.allocate(Linux.TIMEX_BYTES, Long.BYTES));
        }
    }

    // Of the tool's own JVM. Another program gets an exception when it makes a node.
    private void flags() {
        if (HostSurvey.class.getModule().isNativeAccessEnabled()) {
            good("JVM: Java " + Runtime.version().feature() + " with the flags of framecast.args");
        } else {
            bad("JVM: native access is not enabled", "java @framecast.args …");
        }
    }
}
