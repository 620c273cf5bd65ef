package io.framecast.perf.bench;

import io.framecast.samples.ToolCommand;
import io.framecast.samples.ToolContext;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine;

/// Adds `bench` to the command line tool.
public final class BenchTool implements ToolCommand {
    @Override
    public Callable<Integer> create(final ToolContext context) {
        return new BenchCommand(context);
    }

    /// A bench of its own that takes `--device`.
    ///
    /// @param quick whether it takes `--quick`
    public record DeviceBench(String name, boolean quick) {}

    /// The benches for a machine with a GPU, in alphabetical order.
    public static List<DeviceBench> onDevices() {
        return Stream.of(BenchCommand.class.getDeclaredMethods())
                .filter(method -> method.isAnnotationPresent(CommandLine.Command.class))
                .flatMap(method -> Stream.of(method.getParameterTypes())
                        .filter(type -> takes(type, "--device"))
                        .map(type -> new DeviceBench(
                                method.getAnnotation(CommandLine.Command.class).name(), takes(type, "--quick"))))
                .sorted(Comparator.comparing(DeviceBench::name))
                .toList();
    }

    // By itself, or by what is mixed into it.
    private static boolean takes(final Class<?> type, final String name) {
        return Arrays.stream(type.getDeclaredFields()).anyMatch(field -> {
            final CommandLine.Option option = field.getAnnotation(CommandLine.Option.class);
            return (option != null && List.of(option.names()).contains(name))
                    || (field.isAnnotationPresent(CommandLine.Mixin.class) && takes(field.getType(), name));
        });
    }
}
