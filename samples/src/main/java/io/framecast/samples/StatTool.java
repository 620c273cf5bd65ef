package io.framecast.samples;

import java.util.concurrent.Callable;

/// Adds `framecast stat`.
public final class StatTool implements ToolCommand {
    @Override
    public Callable<Integer> create(final ToolContext context) {
        return new StatCommand(context);
    }
}
