package io.framecast.perf.bench;

import io.framecast.api.error.FramecastException;
import io.framecast.perf.rivals.FramesDifferException;
import io.framecast.perf.rivals.StreamSpec;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;

/// One end of a measured stream: a process that [ChildProcess] starts. Prints its report on one line. Ends with its
/// parent, however that ends.
public final class BenchChild {
    static final String PUBLISH = "publish";
    static final String SUBSCRIBE = "subscribe";
    static final String REPORT = "@report ";
    static final String FAILURE = "@failure ";

    static final int FRAMES_DIFFER = 1;
    static final int FAILED = 3;

    private static final int WORDS = 3;

    private BenchChild() {}

    /// Words: role, system, parent's process number, then the stream.
    public static void main(final String[] arguments) {
        final List<String> words = Arrays.asList(arguments);
        watch(Long.parseLong(words.get(2)));
        System.exit(run(words.get(0), new BenchSystem(words.get(1)), words.subList(WORDS, words.size())));
    }

    private static int run(final String role, final BenchSystem system, final List<String> words) {
        try {
            final StreamSpec spec = StreamSpec.parse(words);
            System.out.println(REPORT
                    + (role.equals(PUBLISH)
                            ? system.open()
                                    .publish(spec, BenchChild::awaitEndOfInput)
                                    .json()
                            : system.open().subscribe(spec).json()));
            return 0;
        } catch (final FramesDifferException e) {
            System.out.println(FAILURE + e.getMessage());
            return FRAMES_DIFFER;
        } catch (final FramecastException | IllegalStateException e) {
            System.out.println(FAILURE + e.getMessage());
            return FAILED;
        } catch (final RuntimeException | OutOfMemoryError | LinkageError e) {
            System.out.println(FAILURE + e);
            return FAILED;
        }
    }

    private static void watch(final long parent) {
        final ProcessHandle handle = ProcessHandle.of(parent).orElse(null);
        if (handle == null) {
            Runtime.getRuntime().halt(FAILED);
            return;
        }
        Thread.ofPlatform().daemon().name("parent-watch").start(() -> {
            handle.onExit().join();
            Runtime.getRuntime().halt(FAILED);
        });
    }

    private static void awaitEndOfInput() {
        try {
            // Nothing is ever written here; the parent closes it.
            System.in.skipNBytes(Long.MAX_VALUE);
        } catch (final EOFException e) {
            return;
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
