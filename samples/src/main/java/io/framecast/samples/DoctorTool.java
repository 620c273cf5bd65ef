package io.framecast.samples;

import java.util.concurrent.Callable;

/// Adds `framecast doctor`.
public final class DoctorTool implements ToolCommand {
    @Override
    public Callable<Integer> create(final ToolContext context) {
        return new DoctorCommand(context);
    }
}
