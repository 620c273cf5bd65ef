package io.framecast.perf.litmus;

import io.framecast.samples.ToolCommand;
import io.framecast.samples.ToolContext;
import java.util.concurrent.Callable;

/// Adds `litmus` to the command line tool.
public final class LitmusTool implements ToolCommand {
    @Override
    public Callable<Integer> create(final ToolContext context) {
        return new LitmusCommand(context);
    }
}
