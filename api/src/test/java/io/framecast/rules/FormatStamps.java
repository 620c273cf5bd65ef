package io.framecast.rules;

import com.palantir.javaformat.java.Formatter;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;

/// The texts that were found formatted, so that a further run formats only what changed. Formatting is most of what
/// the rules take. A stamp is the hash of a text; all stamps are void when the formatter, its steps or the JDK change.
/// They lie in the module's `target`: a fresh checkout has none.
final class FormatStamps {
    private final Path file;
    private final String formatter;
    private final Set<String> before;
    // Of texts that are there now: those of earlier ones go.
    private final Set<String> now = new ConcurrentSkipListSet<>();

    private FormatStamps(final Path file, final String formatter, final Set<String> before) {
        this.file = file;
        this.formatter = formatter;
        this.before = before;
    }

    static FormatStamps read(final Path file) {
        return read(file, formatter());
    }

    /// @param formatter changes with the result of formatting
    static FormatStamps read(final Path file, final String formatter) {
        final List<String> lines =
                Files.exists(file) ? Repository.read(file).lines().toList() : List.of();
        final boolean valid = !lines.isEmpty() && lines.getFirst().equals(formatter);
        return new FormatStamps(file, formatter, valid ? new TreeSet<>(lines.subList(1, lines.size())) : Set.of());
    }

    /// Any thread: whether a text was found formatted before.
    boolean has(final String text) {
        final String stamp = hash(text.getBytes(StandardCharsets.UTF_8));
        final boolean known = before.contains(stamp);
        if (known) {
            now.add(stamp);
        }
        return known;
    }

    /// Any thread: a text is formatted.
    void add(final String text) {
        now.add(hash(text.getBytes(StandardCharsets.UTF_8)));
    }

    void write() {
        try {
            Files.createDirectories(Objects.requireNonNull(file.getParent()));
            Files.writeString(file, formatter + "\n" + String.join("\n", now) + "\n");
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    // The jar's name has its version.
    private static String formatter() {
        final String jar = Path.of(Formatter.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .getPath())
                .getFileName()
                .toString();
        try (InputStream steps = Objects.requireNonNull(FormatStamps.class.getResourceAsStream("JavaStyle.class"))) {
            return jar + " " + Runtime.version() + " " + hash(steps.readAllBytes());
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String hash(final byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (final NoSuchAlgorithmException e) {
            throw new IllegalStateException("each JDK has SHA-256", e);
        }
    }
}
