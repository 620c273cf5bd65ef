package io.framecast.samples.tool;

import io.framecast.api.Framecast;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import io.framecast.samples.Console;
import io.framecast.samples.Environment;
import io.framecast.samples.ExitStatus;
import io.framecast.samples.FrameWorkerProvider;
import io.framecast.samples.Report;
import io.framecast.samples.Stop;
import io.framecast.samples.ToolCommand;
import io.framecast.samples.ToolVersion;
import io.framecast.samples.demo.DemoCommand;
import io.framecast.samples.demo.JavaChildLauncher;
import io.framecast.samples.doctor.DoctorCommand;
import io.framecast.samples.options.Options;
import io.framecast.samples.publish.PublishCommand;
import io.framecast.samples.serve.ServeCommand;
import io.framecast.samples.simulate.SimulateCommand;
import io.framecast.samples.stat.StatCommand;
import io.framecast.samples.subscribe.SubscribeCommand;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// The command line tool: `framecast COMMAND …`. Exit statuses are in [ExitStatus].
@Command(
        name = "framecast",
        description = "Carries frames from one source into the memory of many GPUs, by reliable multicast.",
        mixinStandardHelpOptions = true,
        versionProvider = ToolVersion.class,
        synopsisSubcommandLabel = "COMMAND",
        footerHeading = "%nExamples:%n",
        footer = {
            "  framecast demo",
            "  framecast demo --transport udp --loss 0.02 --json -",
            "  framecast publish 'framecast:auto?group=224.20.30.39:24326' --input test",
            "  framecast subscribe 'framecast:auto?group=224.20.30.39:24326' --device cuda:0",
            "  framecast simulate --seeds 1..2000 --receivers 8 --loss 0.05",
            "",
            "Exit status: 0 done and verified, 1 frames differ or doctor misses something, 2 usage or environment,",
            "3 peer lost, 130 interrupted before the end."
        })
public final class Main implements Runnable {
    // Examples are not wrapped: a wrapped command line cannot be pasted.
    static final int HELP_COLUMNS = 110;

    private static final int STDIN = 0;
    private static final int STDERR = 2;
    // Linux: reads the settings of a terminal, and fails for anything else.
    private static final long TCGETS = 0x5401;
    private static final int TERMIOS_BYTES = 64;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    private final Environment environment;

    Main(final Environment environment) {
        this.environment = environment;
    }

    public static void main(final String[] arguments) {
        final Stop stop = new Stop();
        stop.install();
        final int status = new Main(ofProcess(stop)).run(arguments);
        stop.finish(status);
        System.exit(status);
    }

    /// Runs one command in this process, which goes on.
    ///
    /// @return the exit status
    public static int run(final Environment environment, final String... arguments) {
        return new Main(environment).run(arguments);
    }

    /// All commands with their options, to be read; nothing is run.
    public static CommandLine commandLine() {
        final Environment environment = ofProcess(new Stop());
        return new Main(environment).commands(Report.of(new String[0], environment));
    }

    /// Runs one command.
    ///
    /// @return the exit status
    int run(final String... arguments) {
        final Report report = Report.of(arguments, environment);
        final PrintWriter stdout = new PrintWriter(environment.out(), true, StandardCharsets.UTF_8);
        try {
            return commands(report, arguments)
                    .setOut(stdout)
                    .setExecutionStrategy(parsed -> {
                        Options.check(parsed);
                        return new CommandLine.RunLast().execute(parsed);
                    })
                    .setParameterExceptionHandler((e, _) -> fail(report, e, usageLine(e)))
                    .setExecutionExceptionHandler((e, _, _) -> fail(report, e, ExitStatus.line(e)))
                    .execute(arguments);
        } catch (final OutOfMemoryError | LinkageError e) {
            return fail(report, e, ExitStatus.line(e));
        }
    }

    // The first word may name the command to run: then the other commands are not made.
    private CommandLine commands(final Report report, final String... arguments) {
        final Map<String, Supplier<Callable<Integer>>> makers = new LinkedHashMap<>();
        makers.put("demo", () -> new DemoCommand(environment, report));
        makers.put("publish", () -> new PublishCommand(environment, report));
        makers.put("subscribe", () -> new SubscribeCommand(environment, report));
        makers.put("simulate", () -> new SimulateCommand(environment, report));
        makers.put("doctor", () -> new DoctorCommand(report));
        makers.put("serve", () -> new ServeCommand(environment, report));
        makers.put("stat", () -> new StatCommand(report));
        final CommandLine commands = new CommandLine(this);
        final Supplier<Callable<Integer>> only = arguments.length > 0 ? makers.get(arguments[0]) : null;
        if (only != null) {
            commands.addSubcommand(only.get());
        } else {
            makers.values().forEach(maker -> commands.addSubcommand(maker.get()));
            for (final ToolCommand added : ServiceLoader.load(ToolCommand.class)) {
                commands.addSubcommand(added.create(report));
            }
        }
        addReportOption(commands);
        commands.addSubcommand(new HelpOfCommand()).setUsageHelpWidth(HELP_COLUMNS);
        return Options.register(commands);
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
        final @Nullable String complaint = Options.complaint(failure);
        return complaint == null
                ? UsageText.of(failure) + "; see "
                        + failure.getCommandLine().getCommandSpec().qualifiedName() + " --help"
                : complaint;
    }

    private static int fail(final Report report, final Throwable failure, final String line) {
        final int status = ExitStatus.of(failure);
        report.failure(status, line);
        return status;
    }

    private static Environment ofProcess(final Stop stop) {
        return new Environment(
                isStdinClosed() ? closedStream() : new FileInputStream(FileDescriptor.in),
                new FileOutputStream(FileDescriptor.out),
                // As stdout, in any locale: in the plain C locale System.err turns µ and … into
                // question marks.
                new Console(
                        new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8),
                        isTerminal(STDERR)),
                Framecast::launch,
                new JavaChildLauncher(Main.class.getName()),
                () -> ServiceLoader.load(FrameWorkerProvider.class).stream()
                        .map(ServiceLoader.Provider::get)
                        .toList(),
                stop);
    }

    // `System.console()` answers for stdin and stdout, of which one is often a pipe when a user watches the tool
    // (`framecast demo --json - | jq`).
    private static boolean isTerminal(final int descriptor) {
        try (Arena scratch = Arena.ofConfined()) {
            return Linux.isPresent() && Libc.ioctl(descriptor, TCGETS, scratch.allocate(TERMIOS_BYTES)) == 0;
        }
    }

    // Whether standard input was closed when the tool was started: the launcher then puts a write-only file there, and
    // reading nothing from that fails.
    private static boolean isStdinClosed() {
        return Linux.isPresent() && Libc.read(STDIN, 0, 0) < 0;
    }

    private static InputStream closedStream() {
        final InputStream closed = InputStream.nullInputStream();
        try {
            closed.close();
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
        return closed;
    }
}
