package io.framecast.engine.hostgroup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.framecast.api.error.TransportException;
import io.framecast.engine.libc.Elsewhere;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.libc.PrivateDirectory;
import io.framecast.engine.libc.UnixSocket;
import io.framecast.engine.ready.Wakeup;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class HostGroupsTest {
    @TempDir
    private Path temporary;

    @BeforeEach
    void requireLinux() {
        assumeTrue(Linux.isPresent(), "local sockets need Linux");
    }

    private static Set<String> names(final Path directory) throws IOException {
        try (Stream<Path> left = Files.list(directory)) {
            return left.map(path -> path.getFileName().toString()).collect(Collectors.toSet());
        }
    }

    @Test
    void shouldRemoveWhatKilledProcessesLeft() throws IOException {
        final Path own = LoneSockets.next(temporary);
        final Path listening = temporary.resolve("alone-00000001-1.sock");
        final List<String> kept = List.of("alone-x-1.sock", "0123456789abcdef.sock", "alone-ffffffff-1.sock");
        for (final String name : kept) {
            Files.createFile(temporary.resolve(name));
        }
        Files.createFile(own);
        Files.createFile(temporary.resolve("alone-00000002-1.sock"));
        try (UnixSocket _ = UnixSocket.listen(listening)) {
            LoneSockets.sweep(temporary);
        }
        final Set<String> left = names(temporary);
        assertTrue(left.remove("alone"), "the file with the locks");
        assertEquals(
                Stream.concat(
                                kept.stream(),
                                Stream.of(own, listening)
                                        .map(path -> path.getFileName().toString()))
                        .collect(Collectors.toSet()),
                left);
    }

    /// A process may be killed at any time.
    @Test
    void shouldLeaveNoSocketOfAGroupOfOne() throws IOException {
        final HostGroups.Role role = HostGroups.alone(temporary, Wakeup.NONE, 1_000_000_000, _ -> {});
        assertEquals(Set.of("alone"), names(temporary));
        role.connection().close();
        Objects.requireNonNull(role.leader()).close();
        assertEquals(Set.of("alone"), names(temporary));
    }

    /// Containers that share a directory have equal PIDs: no name rests on one.
    @Test
    void shouldNameNoSocketAfterAPid() throws IOException {
        final Path first = LoneSockets.next(temporary);
        final Path second = LoneSockets.next(temporary);
        assertNotEquals(first, second);
        assertTrue(first.getFileName().toString().matches("alone-[0-7][0-9a-f]{7}-\\d+\\.sock"), first::toString);
        // The process goes on behind a directory that was removed.
        Files.delete(temporary.resolve("alone"));
        LoneSockets.next(temporary);
        assertTrue(Files.exists(temporary.resolve("alone")));
    }

    @Test
    void shouldFindAListenerInAnotherDirectory() throws IOException {
        final Path common = Files.createDirectory(temporary.resolve("common"), PrivateDirectory.ownerOnly());
        final Path one = Files.createDirectory(temporary.resolve("one"), PrivateDirectory.ownerOnly());
        final Path here = common.resolve("name.sock");
        final Path there = one.resolve("name.sock");
        assertNull(Elsewhere.find(here, common));
        try (UnixSocket _ = UnixSocket.listen(there)) {
            Elsewhere.note(there, common);
            assertEquals(there, Elsewhere.find(here, common));
            assertEquals(there, Elsewhere.find(temporary.resolve("two").resolve("name.sock"), common));
            assertNull(Elsewhere.find(there, common), "that is the socket itself");
            Elsewhere.forget(here, common);
            assertEquals(there, Elsewhere.find(here, common), "another one's link");
        }
        assertNull(Elsewhere.find(here, common), "no process listens any more");
        Elsewhere.forget(there, common);
        assertEquals(Set.of(), names(common));
        try (UnixSocket _ = UnixSocket.listen(here)) {
            Elsewhere.note(here, common);
            assertEquals(Set.of("name.sock"), names(common), "all processes know this place");
            final Path later = one.resolve("later").resolve("name.sock");
            assertEquals(here, Elsewhere.find(later, common));
        }
    }

    @Test
    void shouldNameTheCauseWhereItsDirectoryCannotBeUsed() throws IOException {
        final Path absent = temporary.resolve("none").resolve("framecast");
        assertEquals(
                "host group: cannot use " + absent
                        + ": no such file or directory; set XDG_RUNTIME_DIR to a directory of yours",
                refusal(absent));
        final Path file = Files.createFile(temporary.resolve("framecast"));
        assertEquals(
                "host group: cannot use " + file + ": " + file
                        + " is not a directory of this user with mode 0700; set XDG_RUNTIME_DIR to a directory of yours",
                refusal(file));
        final Path below = file.resolve("framecast");
        assertTrue(refusal(below).contains(below + ": Not a directory; "), () -> refusal(below));
    }

    private static String refusal(final Path directory) {
        final Path socket = directory.resolve("0123456789abcdef.sock");
        return String.valueOf(assertThrows(TransportException.class, () -> HostGroups.locked(socket, () -> {}))
                .getMessage());
    }

    @Test
    void shouldRemoveLinksOfProcessesThatWereKilled() throws IOException {
        final Path common = Files.createDirectory(temporary.resolve("common"), PrivateDirectory.ownerOnly());
        final Path gone = temporary.resolve("gone.sock");
        Elsewhere.note(gone, common);
        assertEquals(Set.of("gone.elsewhere"), names(common));
        final Path other = temporary.resolve("other.sock");
        try (UnixSocket _ = UnixSocket.listen(other)) {
            Elsewhere.note(other, common);
            assertEquals(Set.of("other.elsewhere"), names(common));
        }
    }
}
