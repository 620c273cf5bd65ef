package io.framecast.samples.input;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.Charset;
import java.util.function.Consumer;

/// Reads the standard error of another process, on a daemon thread that ends with the stream.
public final class LineReader {
    private LineReader() {}

    /// @param lines takes each line, on the new thread
    public static Thread start(final String name, final InputStream stream, final Consumer<String> lines) {
        return Thread.ofPlatform().daemon().name(name).start(() -> {
            try (BufferedReader reader = new BufferedReader(new InputStreamReader(stream, Charset.defaultCharset()))) {
                for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                    lines.accept(line);
                }
            } catch (final IOException e) {
                // The process was destroyed.
            }
        });
    }
}
