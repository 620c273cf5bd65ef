package io.framecast.perf.chaos;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/// A process of a chaos run. Says on stdout what happens to it, does what it reads on stdin, and ends with
/// its parent, however that ends.
public final class ChaosChild {
    static final int ENDED = 0;
    static final int OVER = 4;
    private static final int HALTED = 5;
    private static final int COLLECTIONS = 3;

    private volatile boolean ending;

    private ChaosChild() {}

    public static void main(final String[] arguments) {
        final ChildSettings settings = ChildSettings.parse(arguments);
        final ChaosChild child = new ChaosChild();
        child.watch(settings.parent());
        child.listen();
        System.exit(
                switch (settings.role()) {
                    case ChildSettings.PUBLISH -> new ChaosPublisher(settings, () -> child.ending).run();
                    case ChildSettings.SUBSCRIBE -> new ChaosSubscriber(settings).run();
                    default -> waitForOrders();
                });
    }

    // The orders' thread does all that a stranger does.
    private static int waitForOrders() {
        while (true) {
            LockSupport.park();
        }
    }

    static synchronized void say(final String line) {
        System.out.println(line);
        System.out.flush();
    }

    private void watch(final long parent) {
        final ProcessHandle handle = ProcessHandle.of(parent).orElse(null);
        if (handle == null) {
            Runtime.getRuntime().halt(HALTED);
            return;
        }
        Thread.ofPlatform().daemon().name("parent-watch").start(() -> {
            handle.onExit().join();
            Runtime.getRuntime().halt(HALTED);
        });
    }

    private void listen() {
        Thread.ofPlatform().daemon().name("orders").start(() -> {
            try (BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
                for (String line = input.readLine(); line != null; line = input.readLine()) {
                    switch (line) {
                        case ChildLines.TELL_MEMORY -> tellMemory();
                        case ChildLines.END_STREAM -> ending = true;
                        case String order
                        when order.startsWith(ChildLines.SHOUT + " ") ->
                            ChaosStranger.shout(order.substring(ChildLines.SHOUT.length() + 1));
                        default -> say(ChildLines.WRONG + " unknown order: " + line);
                    }
                }
            } catch (final IOException e) {
                say(ChildLines.WRONG + " orders cannot be read: " + e.getMessage());
            }
        });
    }

    private static void tellMemory() throws IOException {
        for (int i = 0; i < COLLECTIONS; i++) {
            System.gc();
        }
        final long heap =
                ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
        say(ChildLines.MEMORY + " " + heap + " " + residentBytes() + " " + descriptors());
    }

    private static long residentBytes() throws IOException {
        for (final String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("[^0-9]", "")) << 10;
            }
        }
        return 0;
    }

    private static long descriptors() throws IOException {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return open.count();
        }
    }
}
