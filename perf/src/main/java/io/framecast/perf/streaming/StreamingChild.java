package io.framecast.perf.streaming;

import io.framecast.api.error.FramecastException;
import io.framecast.perf.bench.BenchChild;
import io.framecast.perf.bench.ChildRounds;
import io.framecast.perf.rivals.FramesDifferException;
import io.framecast.samples.json.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/// One end of streams into devices. Reads lines as [ChildRounds] does: each `round` and the words of a
/// [StreamingSpec] is a stream, answered by one line.
public final class StreamingChild {
    static final String PUBLISH = "publish";
    static final String SUBSCRIBE = "subscribe";

    private StreamingChild() {}

    /// Words: role, parent's process number.
    public static void main(final String[] arguments) {
        BenchChild.watch(Long.parseLong(arguments[1]));
        System.exit(serve(arguments[0].equals(PUBLISH)));
    }

    private static int serve(final boolean publishes) {
        final BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try {
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                final List<String> words = Arrays.asList(line.split(ChildRounds.BETWEEN_WORDS, -1));
                final StreamingSpec spec = StreamingSpec.parse(words.subList(1, words.size()));
                final Scheme scheme = Scheme.of(spec);
                final Map<String, Object> report = publishes ? scheme.publish(spec) : scheme.subscribe(spec);
                System.out.println(ChildRounds.REPORT + Json.write(report));
            }
            return 0;
        } catch (final FramesDifferException e) {
            return fail(ChildRounds.DIFFERENCE, String.valueOf(e.getMessage()), ChildRounds.FRAMES_DIFFER);
        } catch (final FramecastException | IllegalStateException e) {
            return fail(ChildRounds.FAILURE, String.valueOf(e.getMessage()), ChildRounds.FAILED);
        } catch (final IOException | RuntimeException | OutOfMemoryError | LinkageError e) {
            return fail(ChildRounds.FAILURE, e.toString(), ChildRounds.FAILED);
        }
    }

    private static int fail(final String kind, final String why, final int status) {
        System.out.println(kind + why.replace('\n', ' '));
        return status;
    }
}
