package io.framecast.perf.bench;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/// One end of measured streams: a process that [ChildProcess] starts, told by [ChildRounds] what to do. Lives
/// through many rounds, for a stream in service does too: what is measured is a program that runs, not one
/// that starts. Ends with its parent, however that ends.
public final class BenchChild {
    static final String PUBLISH = "publish";
    static final String SUBSCRIBE = "subscribe";

    private BenchChild() {}

    /// Words: role, system, parent's process number.
    public static void main(final String[] arguments) {
        watch(Long.parseLong(arguments[2]));
        final BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.exit(new ChildRounds(
                        new BenchSystem(arguments[1]).open(),
                        arguments[0].equals(PUBLISH),
                        input,
                        line -> System.out.println(line))
                .serve());
    }

    /// Ends this process when its parent has ended.
    public static void watch(final long parent) {
        final ProcessHandle handle = ProcessHandle.of(parent).orElse(null);
        if (handle == null) {
            Runtime.getRuntime().halt(ChildRounds.FAILED);
            return;
        }
        Thread.ofPlatform().daemon().name("parent-watch").start(() -> {
            handle.onExit().join();
            Runtime.getRuntime().halt(ChildRounds.FAILED);
        });
    }
}
