package io.framecast.perf.harness;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/// The program of every child process: plays a [ChildRole], and ends with its parent, however that ends.
public final class ChildMain {
    private ChildMain() {}

    /// Words: the parent's process number, the class of the role, and the words of the role.
    public static void main(final String[] arguments) throws ReflectiveOperationException {
        watch(Long.parseLong(arguments[0]));
        final ChildRole role = Class.forName(arguments[1])
                .asSubclass(ChildRole.class)
                .getConstructor()
                .newInstance();
        final BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        final List<String> words = Arrays.asList(arguments).subList(2, arguments.length);
        System.exit(role.run(words, new ParentLink(orders, line -> {
            System.out.println(line);
            System.out.flush();
        })));
    }

    private static void watch(final long parent) {
        final ProcessHandle handle = ProcessHandle.of(parent).orElse(null);
        if (handle == null) {
            Runtime.getRuntime().halt(ParentLink.FAILED);
            return;
        }
        Thread.ofPlatform().daemon().name("parent-watch").start(() -> {
            handle.onExit().join();
            Runtime.getRuntime().halt(ParentLink.FAILED);
        });
    }
}
