package io.framecast.engine.aeron;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.agrona.ErrorHandler;

/// Reports errors of Aeron's driver and client to the operator, once per kind, as one line: by itself Aeron
/// prints stack traces to stderr. The driver's threads and the transport's call it.
final class Notices implements ErrorHandler {
    /// More kinds than any run shows: the bound limits the memory that a hostile network can use.
    private static final int KINDS_MAX = 64;

    private static final int KIND_CHARS_MAX = 48;
    private static final int LINE_CHARS_MAX = 400;

    private final Consumer<String> sink;
    private final Set<String> kinds = ConcurrentHashMap.newKeySet();

    Notices(final Consumer<String> sink) {
        this.sink = sink;
    }

    @Override
    public void onError(final Throwable error) {
        final String line = firstLine(error);
        // Addresses and numbers come late in Aeron's messages, so that their beginning names the kind.
        once(
                error.getClass().getName() + line.substring(0, Math.min(line.length(), KIND_CHARS_MAX)),
                "aeron: media driver says: " + line);
    }

    void once(final String kind, final String line) {
        if (kinds.size() < KINDS_MAX && kinds.add(kind)) {
            sink.accept(line);
        }
    }

    static String firstLine(final Throwable error) {
        final String message = error.getMessage();
        final String text = message == null ? error.getClass().getSimpleName() : message;
        final int end = text.indexOf('\n');
        final String line = end < 0 ? text : text.substring(0, end);
        return line.substring(0, Math.min(line.length(), LINE_CHARS_MAX));
    }
}
