package io.framecast.engine.libc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/// Evaluates C expressions with the C compiler of this machine.
final class CProgram {
    private static final long TIMEOUT_S = 60;

    private CProgram() {}

    /// Compiles and runs a program that prints each expression.
    ///
    /// @param expressions by name
    /// @return values by name
    static Map<String, Long> evaluate(
            final Path directory, final String includes, final Map<String, String> expressions)
            throws IOException, InterruptedException {
        assumeTrue(runs(List.of("gcc", "--version"), directory.resolve("version")), "no gcc on this machine");
        final StringBuilder source =
                new StringBuilder("#define _GNU_SOURCE\n#include <stdio.h>\n#include <stddef.h>\n");
        source.append(includes).append("\nint main(void) {\n");
        expressions.forEach((name, expression) ->
                source.append("printf(\"%s %lld\\n\", \"" + name + "\", (long long)(" + expression + "));\n"));
        source.append("return 0; }\n");
        final Path file = directory.resolve("constants.c");
        Files.writeString(file, source);
        final Path program = directory.resolve("constants");
        final Path log = directory.resolve("gcc.log");
        assertTrue(
                runs(List.of("gcc", "-o", program.toString(), file.toString()), log), () -> "gcc failed, see " + log);
        final Path output = directory.resolve("output");
        assertTrue(runs(List.of(program.toString()), output));
        final Map<String, Long> values = new TreeMap<>();
        for (final String line : Files.readAllLines(output)) {
            final int space = line.indexOf(' ');
            values.put(line.substring(0, space), Long.parseLong(line.substring(space + 1)));
        }
        return values;
    }

    private static boolean runs(final List<String> command, final Path output) throws InterruptedException {
        try {
            final Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
            return process.waitFor(TIMEOUT_S, TimeUnit.SECONDS) && process.exitValue() == 0;
        } catch (final IOException e) {
            return false;
        }
    }

    /// Compares every static int and long of a class with C: with the expression given for its name, or with
    /// the name.
    static void assertAgrees(final Map<String, Long> values, final Class<?> constants) throws IllegalAccessException {
        int compared = 0;
        for (final Field field : constants.getDeclaredFields()) {
            final boolean number = field.getType() == int.class || field.getType() == long.class;
            if (Modifier.isStatic(field.getModifiers()) && number && values.containsKey(field.getName())) {
                field.setAccessible(true);
                assertEquals(values.get(field.getName()), ((Number) field.get(null)).longValue(), field.getName());
                compared++;
            }
        }
        assertEquals(values.size(), compared);
    }

    /// Names of the package-private numbers of a class.
    static List<String> names(final Class<?> constants) {
        return java.util.Arrays.stream(constants.getDeclaredFields())
                .filter(field -> Modifier.isStatic(field.getModifiers()) && !Modifier.isPrivate(field.getModifiers()))
                .filter(field -> field.getType() == int.class || field.getType() == long.class)
                .map(Field::getName)
                .toList();
    }
}
