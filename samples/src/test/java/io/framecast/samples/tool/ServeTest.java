package io.framecast.samples.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.samples.ExitStatus;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class ServeTest {
    private static final int STREAMS = 3;

    private final ToolFixture tool = new ToolFixture();

    @AfterEach
    void endAll() throws InterruptedException {
        tool.endAll();
    }

    private int subscribers() {
        synchronized (tool.network) {
            return tool.network.subscribers.size();
        }
    }

    /// Each stream begins and ends between two looks of the server at its subscriber.
    @Test
    void shouldJoinAgainAfterEachOfSeveralShortStreams() throws InterruptedException {
        final ToolFixture.Background served = tool.start("serve", ToolFixture.URI, "--json", "-");
        ToolFixture.awaitWhile(() -> subscribers() < 1);
        synchronized (tool.network) {
            tool.network.publisher = new FakePublisher(tool.network, Channel.parse(ToolFixture.URI));
            tool.network.publisher.ended = true;
        }
        ToolFixture.awaitWhile(() -> subscribers() < STREAMS + 1);
        tool.stop.request();
        final ToolFixture.Run run = served.join();
        assertEquals(ExitStatus.DONE, run.status(), run.err());
        final Map<?, ?> joined = (Map<?, ?>) ((List<?>) run.json().get("joined")).getFirst();
        assertTrue((long) joined.get("sessions") >= STREAMS, () -> "sessions: " + joined);
        final long ends = run.err()
                .lines()
                .filter(line -> line.endsWith(": end of stream"))
                .count();
        assertTrue(ends >= STREAMS, run.err());
    }
}
