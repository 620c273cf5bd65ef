package io.framecast.perf.bench;

import io.framecast.api.Channel;
import io.framecast.api.NodeConfig;
import io.framecast.api.error.FramecastException;
import io.framecast.samples.json.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/// One end of a stream whose repairs are timed. Reads lines as [ChildRounds] does: each `round` and the words
/// of a [TailSpec] is a stream, answered by one line.
public final class TailChild {
    static final String PUBLISH = "publish";
    static final String SUBSCRIBE = "subscribe";

    private TailChild() {}

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
                final TailSpec spec = TailSpec.parse(words.subList(1, words.size()));
                final Map<String, Object> report = publishes ? TailPublisher.run(spec) : TailSubscriber.run(spec);
                System.out.println(ChildRounds.REPORT + Json.write(report));
            }
            return 0;
        } catch (final FramecastException | IllegalStateException e) {
            return fail(String.valueOf(e.getMessage()));
        } catch (final IOException | RuntimeException | OutOfMemoryError | LinkageError e) {
            return fail(e.toString());
        }
    }

    private static int fail(final String why) {
        System.out.println(ChildRounds.FAILURE + why.replace('\n', ' '));
        return ChildRounds.FAILED;
    }

    static Channel channel(final TailSpec spec) {
        return Channel.parse("framecast:udp?group=" + spec.link().group() + ":"
                + spec.link().port() + "|interface=" + spec.localAddress() + "|mtu=" + TailSpec.MTU_BYTES
                + "|frame-max=" + spec.load().frameBytes() + "|device=host");
    }

    static NodeConfig config() {
        return NodeConfig.DEFAULT.withNotices(notice -> {
            // Warnings (a socket buffer that is too small) belong to a measurement.
            if (!notice.startsWith("transport: ") && !notice.startsWith("device: ")) {
                System.err.println(notice);
            }
        });
    }
}
