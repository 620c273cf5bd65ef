package io.framecast.samples.tool;

import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `framecast help`: the usage of the tool or of a command, also of one within another: `help bench streaming`.
@Command(
        name = "help",
        helpCommand = true,
        mixinStandardHelpOptions = true,
        description = "Shows the usage of the tool, or of a command such as publish or bench streaming.")
final class HelpOfCommand implements Runnable {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Parameters(paramLabel = "COMMAND", arity = "0..*", description = "A command, and commands within it.")
    private List<String> path = List.of();

    @Override
    public void run() {
        CommandLine command = spec.commandLine().getParent();
        for (final String name : path) {
            final @Nullable CommandLine next = command.getSubcommands().get(name);
            if (next == null) {
                throw new ParameterException(
                        spec.commandLine(),
                        "COMMAND: expected one of " + command.getSubcommands().keySet() + ", got " + name);
            }
            command = next;
        }
        command.usage(spec.commandLine().getOut());
    }
}
