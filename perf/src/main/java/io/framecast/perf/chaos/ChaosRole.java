package io.framecast.perf.chaos;

import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.error.FramecastException;
import io.framecast.perf.harness.ChildRole;
import io.framecast.perf.harness.ParentLink;
import io.framecast.perf.harness.ProcessUse;
import io.framecast.perf.harness.Records;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/// A process of a chaos run. Reports events as lines of the protocol, which [StreamLog] reads, and follows
/// orders. Times are those of [System#nanoTime], which on Linux is one clock for all processes.
public final class ChaosRole implements ChildRole {
    /// Order: report the memory.
    static final String MEMORY = "memory";
    /// Order to a publisher: end the stream.
    static final String END_STREAM = "end";
    /// Order to a subscriber: release no frame any more.
    static final String HOLD = "hold";
    /// Order to an attacker; [Attacker.Order] follows behind a space.
    static final String ATTACK = "garbage";

    static final int ENDED = 0;
    static final int OVER = 4;
    static final long PROGRESS_NS = 200_000_000;
    private static final long GAP_MIN_NS = 100_000_000;
    private static final int DESCRIPTOR_COUNTS = 5;
    private static final long DESCRIPTOR_COUNT_NS = 10_000_000;
    private static final int COLLECTIONS = 3;

    private volatile boolean ending;
    private volatile boolean holding;
    private long lastNs;
    private long reportedNs;

    /// Word: [ChaosSettings] as JSON.
    @Override
    public int run(final List<String> words, final ParentLink parent) {
        final ChaosSettings settings = Records.read(ChaosSettings.class, words.getFirst());
        Thread.ofPlatform().daemon().name("orders").start(() -> follow(parent));
        if (settings.role().equals(ChaosSettings.ATTACK)) {
            return park();
        }
        final NodeConfig config =
                NodeConfig.DEFAULT.withCountersFile(settings.counters()).withNotices(System.err::println);
        try (Framecast node = Framecast.launch(config)) {
            return settings.role().equals(ChaosSettings.PUBLISH)
                    ? new ChaosPublisher(settings, parent, this).run(node)
                    : new ChaosSubscriber(settings, parent, this).run(node);
        } catch (final FramecastException | IllegalStateException e) {
            parent.send(StreamLog.OVER, e.getMessage());
            return OVER;
        }
    }

    // An attacker does everything on the thread of its orders.
    private static int park() {
        while (true) {
            LockSupport.park();
        }
    }

    boolean isHolding() {
        return holding;
    }

    boolean isEnding() {
        return ending;
    }

    private void follow(final ParentLink parent) {
        try {
            for (String order = parent.next(); order != null; order = parent.next()) {
                if (order.equals(MEMORY)) {
                    reportMemory(parent);
                } else if (order.equals(END_STREAM)) {
                    ending = true;
                } else if (order.equals(HOLD)) {
                    holding = true;
                } else if (order.startsWith(ATTACK + " ")) {
                    Attacker.attack(order.substring(ATTACK.length() + 1), parent);
                } else {
                    parent.send(StreamLog.WRONG, "unknown order: " + order);
                }
            }
        } catch (final IOException e) {
            parent.send(StreamLog.WRONG, "orders cannot be read: " + e.getMessage());
        }
    }

    private static void reportMemory(final ParentLink parent) throws IOException {
        for (int i = 0; i < COLLECTIONS; i++) {
            System.gc();
        }
        final long heap =
                ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
        final long resident = ProcessUse.bytes(ProcessUse.STATUS, "VmRSS:");
        parent.send(StreamLog.MEMORY, heap + " " + resident + " " + descriptors());
    }

    // The least of several counts, because other threads open a file for a moment.
    private static long descriptors() throws IOException {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < DESCRIPTOR_COUNTS; i++) {
            LockSupport.parkNanos(DESCRIPTOR_COUNT_NS);
            try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
                least = Math.min(least, open.count());
            }
        }
        return least;
    }

    /// Reports now and then where the process is in the stream, and every long pause between two frames. The
    /// stream's thread.
    void onFrame(final ParentLink parent, final long frameId, final long frames) {
        final long nowNs = System.nanoTime();
        if (lastNs != 0 && nowNs - lastNs > GAP_MIN_NS) {
            parent.send(StreamLog.GAP, lastNs + " " + nowNs);
        }
        if (nowNs - reportedNs > PROGRESS_NS) {
            reportedNs = nowNs;
            parent.send(StreamLog.PROGRESS, frameId + " " + frames + " " + nowNs);
        }
        lastNs = nowNs;
    }
}
