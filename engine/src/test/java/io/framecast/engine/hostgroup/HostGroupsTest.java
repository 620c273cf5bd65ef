package io.framecast.engine.hostgroup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.framecast.engine.libc.Linux;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class HostGroupsTest {
    @Test
    void shouldRemoveWhatKilledProcessesLeft(@TempDir final Path directory) throws IOException {
        assumeTrue(Linux.isPresent(), "local sockets need Linux");
        final String own = "alone-" + ProcessHandle.current().pid() + "-1.sock";
        for (final String name : Set.of(own, "alone-999999999-1.sock", "alone-x-1.sock", "0123456789abcdef.sock")) {
            Files.createFile(directory.resolve(name));
        }
        HostGroups.sweep(directory);
        try (Stream<Path> left = Files.list(directory)) {
            assertEquals(
                    Set.of(own, "alone-x-1.sock", "0123456789abcdef.sock"),
                    left.map(path -> path.getFileName().toString()).collect(Collectors.toSet()));
        }
    }
}
