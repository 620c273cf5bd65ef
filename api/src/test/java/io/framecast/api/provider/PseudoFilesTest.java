package io.framecast.api.provider;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class PseudoFilesTest {
    @TempDir
    Path directory;

    // Numbers of which the kernel returns all to the first read and nothing to the second, strings, and attributes.
    @ParameterizedTest
    @ValueSource(
            strings = {
                "/proc/sys/net/core/rmem_max",
                "/proc/sys/net/core/wmem_max",
                "/proc/sys/net/ipv4/ip_local_port_range",
                "/proc/sys/vm/max_map_count",
                "/proc/sys/kernel/osrelease",
                "/proc/sys/kernel/random/boot_id",
                "/proc/version",
                "/sys/class/net/lo/mtu",
                "/sys/devices/system/cpu/online"
            })
    void shouldReadWhatCatPrints(final String file) throws IOException {
        Assumptions.assumeTrue(Files.isReadable(Path.of(file)), "this machine has no " + file);
        final Process cat = new ProcessBuilder("/bin/cat", file).start();
        final String printed = new String(cat.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(printed, PseudoFiles.read(Path.of(file)));
        assertEquals(printed.strip(), PseudoFiles.readOrEmpty(Path.of(file)));
    }

    @Test
    void shouldReadFilesThatTakeSeveralReads() throws IOException {
        final String text = "0123456789abcde\n".repeat(10_000);
        final Path file = Files.writeString(directory.resolve("long"), text);
        assertEquals(text, PseudoFiles.read(file));
    }

    @Test
    void shouldReadBytesThatAreNoText() throws IOException {
        final Path file = Files.write(directory.resolve("bytes"), new byte[] {'a', (byte) 0xc3, '\n'});
        assertEquals("a\ufffd\n", PseudoFiles.read(file));
    }

    @Test
    void shouldReportAFileThatIsMissing() {
        final Path file = directory.resolve("missing");
        assertThrows(NoSuchFileException.class, () -> PseudoFiles.read(file));
        assertEquals("", PseudoFiles.readOrEmpty(file));
    }
}
