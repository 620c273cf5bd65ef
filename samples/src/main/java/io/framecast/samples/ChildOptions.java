package io.framecast.samples;

import io.framecast.api.error.ConfigException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// Options that the demo gives its children beside the public ones. Hidden, for they are not for users.
public final class ChildOptions {
    public static final String PARENT_OPTION = "--parent";
    public static final String CHILD_OPTION = "--child";

    @Option(names = PARENT_OPTION, hidden = true)
    private @Nullable Long parentPid;

    @Option(names = CHILD_OPTION, hidden = true)
    private boolean child;

    /// Ends this process as soon as the parent has ended, and reports progress to it.
    public void apply(final Environment environment) {
        if (child) {
            environment.console().useMachineProgress();
        }
        if (parentPid != null) {
            final ProcessHandle parent = ProcessHandle.of(parentPid)
                    .orElseThrow(() -> new ConfigException("process " + parentPid + " that asked for this is gone"));
            Thread.ofPlatform().daemon().name("parent-watch").start(() -> endWith(parent));
        }
    }

    private static void endWith(final ProcessHandle parent) {
        parent.onExit().join();
        Runtime.getRuntime().halt(ExitStatus.PEER_LOST);
    }

    public boolean isChild() {
        return child;
    }
}
