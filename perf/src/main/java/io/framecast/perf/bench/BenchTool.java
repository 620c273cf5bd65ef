package io.framecast.perf.bench;

import io.framecast.samples.ToolCommand;
import io.framecast.samples.ToolContext;
import java.util.concurrent.Callable;

/// Adds `bench` to the command line tool.
public final class BenchTool implements ToolCommand {
    @Override
    public Callable<Integer> create(final ToolContext context) {
        return new BenchCommand(context);
    }
}
