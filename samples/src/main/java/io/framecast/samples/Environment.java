package io.framecast.samples;

import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;

/// The surroundings of the commands, which tests replace.
///
/// @param in standard input, unbuffered
/// @param out standard output, unbuffered: JSON or frames
/// @param console standard error
/// @param nodes launches nodes
/// @param children launches the demo's processes
/// @param workers knows the workers of `subscribe --worker`
/// @param stop the user's wish to end early
public record Environment(
        InputStream in,
        OutputStream out,
        Console console,
        Function<NodeConfig, Framecast> nodes,
        ChildLauncher children,
        Supplier<List<FrameWorkerProvider>> workers,
        Stop stop) {}
