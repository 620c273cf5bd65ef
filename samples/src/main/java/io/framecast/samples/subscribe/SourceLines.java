package io.framecast.samples.subscribe;

import io.framecast.api.SourceEvent;
import io.framecast.api.SourceHandler;
import io.framecast.api.SourceOptions;
import io.framecast.samples.Console;

/// Reports sources that come and go to the user, where there may be several, or the subscriber waits for one. One
/// thread.
final class SourceLines implements SourceHandler {
    private final Console console;
    private final SourceOptions options;
    private long joined;

    SourceLines(final Console console, final SourceOptions options) {
        this.console = console;
        this.options = options;
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
                if (options.count() > 1) {
                    console.complain(source + " joined at frame " + event.firstFrameId());
                }
            }
            case REJOINED -> {
                joined++;
                console.complain(source + " joined after a loss, at frame " + event.firstFrameId());
            }
            case ENDED -> {
                if (options.count() > 1) {
                    console.complain(source + " ended");
                }
            }
            case LOST -> {
                // Else the command ends, and its own line reports the loss.
                if (options.count() > 1 || options.rejoins()) {
                    console.complain(source + " lost: "
                            + event.reason().replaceFirst("^source lost: ", "")
                            + (options.rejoins() ? "; waiting " + options.rejoinMs() + " ms for it" : ""));
                }
            }
        }
    }
}
