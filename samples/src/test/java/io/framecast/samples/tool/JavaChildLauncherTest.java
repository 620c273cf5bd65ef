package io.framecast.samples.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.samples.ChildLauncher;
import io.framecast.samples.ChildOptions;
import io.framecast.samples.Console;
import io.framecast.samples.Environment;
import io.framecast.samples.ExitStatus;
import io.framecast.samples.Stop;
import io.framecast.samples.demo.JavaChildLauncher;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Real processes.
final class JavaChildLauncherTest {
    private final JavaChildLauncher launcher = new JavaChildLauncher(ChildMain.class.getName());

    /// The program that the children of this test run.
    static final class ChildMain {
        private ChildMain() {}

        public static void main(final String[] arguments) throws Exception {
            switch (arguments[0]) {
                case "speak" -> {
                    System.out.println("{\"a\": 1}");
                    System.err.println("a line");
                    System.exit(7);
                }
                case "wait" -> waitForParent(arguments);
                case "launch" -> launchAndWait();
                case "publish" -> publishWithoutEnd(arguments);
                default -> throw new IllegalArgumentException(arguments[0]);
            }
        }

        private static void waitForParent(final String[] arguments) throws InterruptedException {
            final ChildOptions options = new ChildOptions();
            new picocli.CommandLine(picocli.CommandLine.Model.CommandSpec.create()
                            .addMixin("child", picocli.CommandLine.Model.CommandSpec.forAnnotatedObject(options)))
                    .parseArgs(List.of(arguments).subList(1, arguments.length).toArray(String[]::new));
            options.apply(new Environment(
                    System.in,
                    System.out,
                    new Console(System.err, false),
                    _ -> null,
                    new JavaChildLauncher(Main.class.getName()),
                    List::of,
                    new Stop()));
            System.err.println("waiting " + ProcessHandle.current().pid());
            new CountDownLatch(1).await();
        }

        /// The tool itself, over a network within the process: what a signal does to it.
        private static void publishWithoutEnd(final String[] arguments) {
            final FakeNetwork network = new FakeNetwork();
            final Stop stop = new Stop();
            stop.install();
            final Environment environment = new Environment(
                    System.in,
                    System.out,
                    new Console(System.err, false),
                    network::launch,
                    new JavaChildLauncher(Main.class.getName()),
                    List::of,
                    stop);
            Thread.ofPlatform()
                    .daemon()
                    .start(() -> new Main(environment).run("subscribe", ToolFixture.URI, "--json", "/dev/null"));
            final List<String> command = new ArrayList<>(List.of("publish", ToolFixture.URI, "--input", "test"));
            command.addAll(List.of("--frame-bytes", "64", "--json", "-", "--child"));
            command.addAll(List.of(arguments).subList(1, arguments.length));
            final int status = new Main(environment).run(command.toArray(String[]::new));
            stop.finish(status);
            System.exit(status);
        }

        private static void launchAndWait() throws IOException, InterruptedException {
            new JavaChildLauncher(ChildMain.class.getName()).launch(List.of("wait"), false, System.out::println);
            new CountDownLatch(1).await();
        }
    }

    private static void awaitEnd(final ChildLauncher.Child child) {
        while (child.isAlive()) {
            LockSupport.parkNanos(1_000_000);
        }
    }

    @Test
    @Timeout(120)
    void shouldCollectOutputLinesAndStatus() throws IOException {
        final Queue<String> lines = new ConcurrentLinkedQueue<>();
        final ChildLauncher.Child child = launcher.launch(List.of("speak"), false, lines::add);
        awaitEnd(child);
        assertEquals("{\"a\": 1}", child.output().strip());
        assertTrue(lines.contains("a line"), lines.toString());
        assertEquals(7, child.exitStatus());
    }

    @Test
    @Timeout(120)
    void shouldTellASignalByTheStatus() throws IOException {
        final ChildLauncher.Child child = launcher.launch(List.of("wait"), false, _ -> {});
        child.kill();
        awaitEnd(child);
        assertEquals(137, child.exitStatus());
    }

    @Test
    @Timeout(120)
    void shouldEndThePublishersStreamInOrderWhenSignalled() throws Exception {
        final CountDownLatch publishing = new CountDownLatch(1);
        final ChildLauncher.Child child = launcher.launch(List.of("publish"), false, line -> {
            if (line.startsWith(Console.PROGRESS_MARK) && line.endsWith("published")) {
                publishing.countDown();
            }
        });
        publishing.await();
        child.stop();
        awaitEnd(child);
        assertEquals(ExitStatus.DONE, child.exitStatus(), child.output());
        assertTrue(child.output().startsWith("{\"transport\": \"udp\""), child.output());
    }

    @Test
    @Timeout(120)
    void shouldLeaveNoOrphanWhenTheParentIsKilled() throws Exception {
        final Process parent = new ProcessBuilder(
                        ProcessHandle.current().info().command().orElseThrow(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        ChildMain.class.getName(),
                        "launch")
                .start();
        final ProcessHandle child;
        try (BufferedReader output =
                new BufferedReader(new InputStreamReader(parent.getInputStream(), StandardCharsets.UTF_8))) {
            final String line = output.readLine();
            child = ProcessHandle.of(Long.parseLong(line.replace("waiting ", "")))
                    .orElseThrow();
        } finally {
            parent.destroyForcibly();
        }
        child.onExit().join();
        assertEquals(137, parent.waitFor());
    }
}
