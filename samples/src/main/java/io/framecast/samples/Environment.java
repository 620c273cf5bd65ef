package io.framecast.samples;

import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.ServiceLoader;
import java.util.function.Function;
import java.util.function.Supplier;

/// What the commands touch of the world outside, so that tests can give them another.
///
/// @param in standard input, unbuffered
/// @param out standard output, unbuffered: JSON or frames
/// @param console standard error
/// @param nodes launches nodes
/// @param children launches the demo's processes
/// @param workers knows the workers of `subscribe --worker`
/// @param stop the user's wish to end early
record Environment(
        InputStream in,
        OutputStream out,
        Console console,
        Function<NodeConfig, Framecast> nodes,
        ChildLauncher children,
        Supplier<List<FrameWorkerProvider>> workers,
        Stop stop) {

    static Environment ofProcess(final Stop stop) {
        return new Environment(
                Terminal.isStdinClosed() ? closedStream() : new FileInputStream(FileDescriptor.in),
                new FileOutputStream(FileDescriptor.out),
                // As stdout, whatever the locale: in the plain C locale System.err turns µ and … into question marks.
                new Console(
                        new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8),
                        Terminal.isStderr()),
                Framecast::launch,
                new JavaChildLauncher(),
                () -> ServiceLoader.load(FrameWorkerProvider.class).stream()
                        .map(ServiceLoader.Provider::get)
                        .toList(),
                stop);
    }

    private static InputStream closedStream() {
        final InputStream closed = InputStream.nullInputStream();
        try {
            closed.close();
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
        return closed;
    }
}
