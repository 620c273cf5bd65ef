package io.framecast.perf.harness;

import io.framecast.api.error.FramecastException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A child's end of the line protocol of [Child].
public final class ParentLink {
    /// Order that begins a round; the specification follows behind a space.
    public static final String ROUND = "round";

    /// Order to the source of a round: its receivers have left.
    public static final String GONE = "gone";

    /// Kind of a round's answer: a report as JSON.
    public static final String REPORT = "report";

    /// Kind of an answer: the round failed, and the process ends.
    public static final String FAILURE = "failure";

    /// Kind of an answer: frames differ from those published, and the process ends.
    public static final String DIFFERENCE = "difference";

    public static final int FRAMES_DIFFER = 1;
    public static final int FAILED = 3;

    private final BufferedReader orders;
    private final Consumer<String> output;

    public ParentLink(final BufferedReader orders, final Consumer<String> output) {
        this.orders = orders;
        this.output = output;
    }

    /// One round of a child that lives through many. Every round opens everything anew and leaves nothing open.
    public interface Round {
        /// @param spec from [Records#write]
        /// @param gone waits until the receivers of the round have left
        /// @return a record or map, for [Records#write]
        Object run(String spec, Runnable gone) throws IOException;
    }

    /// @return the next order; null at the end
    public @Nullable String next() throws IOException {
        return orders.readLine();
    }

    /// Writes a line of the protocol. Any thread.
    public synchronized void send(final String kind, final @Nullable Object text) {
        output.accept("@" + kind + " " + String.valueOf(text).replace('\n', ' '));
    }

    /// Runs rounds until the orders end or a round fails: remains of a failed round must not reach the next
    /// one.
    ///
    /// @return the process's exit status
    public int serve(final Round round) {
        try {
            for (String order = next(); order != null; order = next()) {
                if (order.startsWith(ROUND + " ")) {
                    send(REPORT, Records.write(round.run(order.substring(ROUND.length() + 1), this::awaitGone)));
                } else if (!order.equals(GONE)) {
                    throw new IllegalArgumentException("expected round or gone, got " + order);
                }
            }
            return 0;
        } catch (final FramesDifferException e) {
            send(DIFFERENCE, e.getMessage());
            return FRAMES_DIFFER;
        } catch (final FramecastException | IllegalStateException e) {
            send(FAILURE, String.valueOf(e.getMessage()));
            return FAILED;
        } catch (final IOException | RuntimeException | OutOfMemoryError | LinkageError e) {
            send(FAILURE, e);
            return FAILED;
        }
    }

    private void awaitGone() {
        try {
            final String order = next();
            if (order != null && !order.equals(GONE)) {
                throw new IllegalArgumentException("expected gone, got " + order);
            }
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
