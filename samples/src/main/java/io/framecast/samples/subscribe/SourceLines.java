package io.framecast.samples.subscribe;

import io.framecast.api.SourceEvent;
import io.framecast.api.SourceHandler;
import io.framecast.api.StreamConfig;
import io.framecast.samples.Console;

/// Reports sources that come and go to the user, where there may be several, or the subscriber waits for one. One
/// thread.
final class SourceLines implements SourceHandler {
    private final Console console;
    private final boolean several;
    private final int rejoinMs;
    private long joined;

    SourceLines(final Console console, final StreamConfig stream) {
        this.console = console;
        several = stream.sources().count() > 1;
        rejoinMs = stream.rejoinMs();
    }

    private String waitText() {
        return rejoinMs < 1000 ? rejoinMs + " ms" : rejoinMs / 1000 + " s";
    }

    /// Sources joined so far; one that was joined again counts again.
    long joined() {
        return joined;
    }

    @Override
    public void onSource(final SourceEvent event) {
        final String source = "source " + SourceEvent.sessionText(event.session());
        switch (event.kind()) {
            case JOINED -> {
                joined++;
                if (several) {
                    console.complain(source + " joined at frame " + event.firstFrameId());
                }
            }
            case REJOINED -> {
                joined++;
                console.complain(source + " joined after a loss"
                        + (event.firstFrameId() == SourceEvent.NO_FRAME ? "" : ", at frame " + event.firstFrameId()));
            }
            case ENDED -> {
                if (several) {
                    console.complain(source + " ended");
                }
            }
            case LOST -> {
                // Else the command ends, and its own line reports the loss.
                if (several || rejoinMs > 0) {
                    final String reason = event.reason().replaceFirst("^source lost: ", "");
                    console.complain(source + " lost" + (reason.isEmpty() ? "" : ": " + reason)
                            + (rejoinMs > 0 ? "; waiting " + waitText() + " for it" : ""));
                }
            }
        }
    }
}
