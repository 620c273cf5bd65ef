package io.framecast.api.provider;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/// Reads files of /proc and /sys. The kernel writes their text while a program reads, and reports a size of 0 under
/// /proc. [Files#readString] believes that size: it reads one byte to check it, then the rest. The kernel answers only
/// the first read of a number below /proc/sys (`proc_dointvec` returns nothing behind offset 0), so "4194304" becomes
/// "4". Hence the first read here has room for the whole value.
///
/// Main code of every module reads files of /proc and /sys through this class alone; `ModuleRules` checks that. Any
/// thread.
public final class PseudoFiles {
    // Larger than any value that the kernel returns to one read alone.
    private static final int READ_BYTES = 1 << 14;

    private PseudoFiles() {}

    /// Returns the text of a file, as the kernel wrote it. A byte that is no UTF-8, as a process's name may have,
    /// becomes U+FFFD.
    public static String read(final Path file) throws IOException {
        try (InputStream stream = Files.newInputStream(file)) {
            byte[] text = new byte[READ_BYTES];
            int length = 0;
            for (int count = stream.read(text); count >= 0; count = stream.read(text, length, text.length - length)) {
                length += count;
                if (text.length - length < READ_BYTES) {
                    text = Arrays.copyOf(text, 2 * text.length);
                }
            }
            return new String(text, 0, length, StandardCharsets.UTF_8);
        }
    }

    /// Returns the text of a file without white space around it; empty where the file cannot be read.
    public static String readOrEmpty(final Path file) {
        try {
            return read(file).strip();
        } catch (final IOException _) {
            return "";
        }
    }
}
