package io.framecast.perf.chaos;

import io.framecast.samples.ToolCommand;
import io.framecast.samples.ToolContext;
import java.util.concurrent.Callable;

/// Adds `chaos` to the command line tool.
public final class ChaosTool implements ToolCommand {
    @Override
    public Callable<Integer> create(final ToolContext context) {
        return new ChaosCommand(context);
    }
}
