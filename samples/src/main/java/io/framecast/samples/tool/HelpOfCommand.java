package io.framecast.samples.tool;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
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
        description = "Shows the usage of the tool, or of a command such as publish or bench streaming; help channel"
                + " shows the keys of a channel.")
final class HelpOfCommand implements Runnable {
    private static final String CHANNEL = "channel";
    private static final int COLUMNS = 120;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Parameters(paramLabel = "COMMAND", arity = "0..*", description = "A command, and commands within it.")
    private List<String> path = List.of();

    @Override
    public void run() {
        if (path.equals(List.of(CHANNEL))) {
            spec.commandLine().getOut().print(MarkdownText.of(page(), COLUMNS));
            spec.commandLine().getOut().flush();
            return;
        }
        CommandLine command = spec.commandLine().getParent();
        for (final String name : path) {
            final @Nullable CommandLine next = command.getSubcommands().get(name);
            if (next == null) {
                throw new ParameterException(
                        spec.commandLine(),
                        "COMMAND: expected one of " + command.getSubcommands().keySet() + " or channel, got " + name);
            }
            command = next;
        }
        command.usage(spec.commandLine().getOut());
    }

    private static String page() {
        try (InputStream stream = HelpOfCommand.class.getResourceAsStream("/docs/channel.md")) {
            return new String(Objects.requireNonNull(stream).readAllBytes(), StandardCharsets.UTF_8);
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
