package io.framecast.samples.subscribe;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.framecast.api.SourceEvent;
import io.framecast.api.StreamConfig;
import io.framecast.samples.Console;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

final class SourceLinesTest {
    private final ByteArrayOutputStream said = new ByteArrayOutputStream();
    private final SourceLines lines = new SourceLines(
            new Console(new PrintStream(said, true, StandardCharsets.UTF_8), false),
            StreamConfig.DEFAULT.withSources(StreamConfig.DEFAULT.sources().withRejoinMs(10_000)));

    private void lost(final String reason) {
        lines.onSource(new SourceEvent(0xca, SourceEvent.Kind.LOST, SourceEvent.NO_FRAME, reason));
    }

    @Test
    void shouldLeaveOutAReasonThatIsNotKnown() {
        lost("source lost: silent for 5 s");
        lost("");
        assertEquals(
                List.of(
                        "framecast: source 00000000000000ca lost: silent for 5 s; waiting 10 s for it",
                        "framecast: source 00000000000000ca lost; waiting 10 s for it"),
                said.toString(StandardCharsets.UTF_8).lines().toList());
    }
}
