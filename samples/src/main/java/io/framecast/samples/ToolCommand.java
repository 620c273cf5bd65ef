package io.framecast.samples;

import java.util.concurrent.Callable;

/// A command that another module adds to the tool. Found by `ServiceLoader` where that module is on the
/// class path.
public interface ToolCommand {
    /// Makes the command: an object annotated for picocli, whose result is the exit status. The tool reports its
    /// exception in one line: a [io.framecast.api.error.ConfigException] for a fault that the user can fix, a
    /// [PeerLostException] for a lost process.
    Callable<Integer> create(ToolContext context);
}
