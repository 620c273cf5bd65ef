package io.framecast.samples;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Properties;
import java.util.ServiceLoader;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// The command line tool: `framecast COMMAND …`. Exit statuses are in [ExitStatus].
@Command(
        name = "framecast",
        description = "Carries frames from one source into the memory of many GPUs, by reliable multicast.",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        synopsisSubcommandLabel = "COMMAND",
        footerHeading = "%nExamples:%n",
        footer = {
            "  framecast demo",
            "  framecast demo --transport udp --loss 0.02 --json -",
            "  framecast publish 'framecast:auto?group=224.20.30.39:24326' --input test",
            "  framecast subscribe 'framecast:auto?group=224.20.30.39:24326' --device cuda:0",
            "  framecast simulate --seeds 1..2000 --receivers 8 --loss 0.05",
            "",
            "Exit status: 0 done and verified, 1 frames differ, 2 usage or environment, 3 peer lost,",
            "130 interrupted before the end."
        })
public final class Main implements Runnable {
    // Examples are not wrapped: a wrapped command line cannot be pasted.
    static final int HELP_COLUMNS = 110;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    private final Environment environment;

    Main(final Environment environment) {
        this.environment = environment;
    }

    public static void main(final String[] arguments) {
        final Stop stop = new Stop();
        stop.install();
        final int status = new Main(Environment.ofProcess(stop)).run(arguments);
        stop.finish(status);
        System.exit(status);
    }

    /// Runs one command.
    ///
    /// @return the exit status
    int run(final String... arguments) {
        final Report report = Report.of(arguments, environment);
        final PrintWriter stdout = new PrintWriter(environment.out(), true, StandardCharsets.UTF_8);
        try {
            return commands(report)
                    .setOut(stdout)
                    .setParameterExceptionHandler((e, _) -> fail(report, e, usageLine(e)))
                    .setExecutionExceptionHandler((e, _, _) -> fail(report, e, ExitStatus.line(e)))
                    .execute(arguments);
        } catch (final OutOfMemoryError | LinkageError e) {
            return fail(report, e, ExitStatus.line(e));
        }
    }

    private CommandLine commands(final Report report) {
        final CommandLine commands = new CommandLine(this)
                .addSubcommand(new DemoCommand(environment, report))
                .addSubcommand(new PublishCommand(environment, report))
                .addSubcommand(new SubscribeCommand(environment, report))
                .addSubcommand(new SimulateCommand(environment, report));
        final ToolContext context = new ReportContext(environment, report);
        for (final ToolCommand added : ServiceLoader.load(ToolCommand.class)) {
            commands.addSubcommand(added.create(context));
        }
        addReportOption(commands);
        return commands.addSubcommand(new HelpOfCommand()).setUsageHelpWidth(HELP_COLUMNS);
    }

    // Also of commands within commands.
    private static void addReportOption(final CommandLine command) {
        command.getCommandSpec().addOption(Report.option());
        command.getSubcommands().values().forEach(Main::addReportOption);
    }

    /// `framecast` alone.
    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "expected a command");
    }

    private static String usageLine(final ParameterException failure) {
        return UsageText.of(failure) + "; see "
                + failure.getCommandLine().getCommandSpec().qualifiedName() + " --help";
    }

    private static int fail(final Report report, final Throwable failure, final String line) {
        final int status = ExitStatus.of(failure);
        report.failure(status, line);
        return status;
    }

    /// The version that Maven wrote into the jar.
    static final class Version implements IVersionProvider {
        private static final String RESOURCE = "/META-INF/maven/io.framecast/framecast-samples/pom.properties";

        @Override
        public String[] getVersion() throws IOException {
            final Properties properties = new Properties();
            try (InputStream stream = Main.class.getResourceAsStream(RESOURCE)) {
                if (stream != null) {
                    properties.load(stream);
                }
            }
            return new String[] {"framecast " + properties.getProperty("version", "(development build)")};
        }
    }
}
