package io.framecast.engine.aeron;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.testing.TestJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DriverDirectoryTest {
    private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rwx------");

    @TempDir
    Path parent;

    /// Runs in a process of its own: makes a directory and waits to be killed.
    static final class Owner {
        private Owner() {}

        public static void main(final String[] args) throws IOException {
            System.out.println(DriverDirectory.create(Path.of(args[0])).path());
            System.in.read();
        }
    }

    @Test
    void shouldClearUpWhenTheOwnerWasKilledAndNotBefore() throws IOException, InterruptedException {
        final Process owner = new ProcessBuilder(TestJvm.command(Owner.class, parent.toString()))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try {
            final Path directory = Path.of(owner.inputReader().readLine());
            Files.createDirectories(directory.resolve("driver"));
            DriverDirectory.sweep(parent);
            assertTrue(Files.exists(directory.resolve("driver")), "the owner lives");
            owner.destroyForcibly();
            assertTrue(owner.waitFor(20, TimeUnit.SECONDS));
            DriverDirectory.sweep(parent);
            assertFalse(Files.exists(directory), "the owner is dead");
        } finally {
            owner.destroyForcibly();
        }
    }

    /// Runs in a process of its own: deletes the directories that it takes for abandoned.
    static final class Sweeper {
        private Sweeper() {}

        public static void main(final String[] args) {
            DriverDirectory.sweep(Path.of(args[0]));
        }
    }

    @Test
    void shouldKeepItsLockWhenItsOwnProcessSweeps() throws IOException, InterruptedException {
        try (DriverDirectory own = DriverDirectory.create(parent)) {
            DriverDirectory.sweep(parent);
            final Process other = new ProcessBuilder(TestJvm.command(Sweeper.class, parent.toString()))
                    .inheritIO()
                    .start();
            assertTrue(other.waitFor(60, TimeUnit.SECONDS));
            assertTrue(Files.exists(own.path().resolve("lock")), "the owner lives");
        }
    }

    @Test
    void shouldFollowNoLinkWhenItClearsUp() throws IOException {
        final Path precious = Files.createDirectory(parent.resolve("precious"));
        Files.writeString(precious.resolve("file"), "keep");
        final Path abandoned = Files.createDirectory(
                parent.resolve("framecast-aeron-1-0"), PosixFilePermissions.asFileAttribute(OWNER_ONLY));
        Files.createFile(abandoned.resolve("lock"));
        Files.createSymbolicLink(abandoned.resolve("link"), precious);
        DriverDirectory.sweep(parent);
        assertFalse(Files.exists(abandoned));
        assertTrue(Files.exists(precious.resolve("file")));
    }

    @Test
    void shouldSweepNothingThatOthersMayHaveMade() throws IOException {
        final Path open = Files.createDirectory(parent.resolve("framecast-aeron-1-0"));
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
        Files.createFile(open.resolve("lock"));
        DriverDirectory.sweep(parent);
        assertTrue(Files.exists(open));
        try (DriverDirectory own = DriverDirectory.create(parent)) {
            assertEquals(OWNER_ONLY, Files.getPosixFilePermissions(own.path()));
        }
    }

    @Test
    void shouldLeaveAloneWhatIsNotItsOwn() throws IOException {
        final Path stranger = Files.createDirectory(parent.resolve("framecast-aeron-unlocked"));
        final Path unfinished = Files.createDirectory(parent.resolve("framecast-aeron-1-2.new"));
        Files.createFile(unfinished.resolve("lock"));
        try (DriverDirectory own = DriverDirectory.create(parent)) {
            DriverDirectory.sweep(parent);
            assertTrue(Files.exists(own.path().resolve("lock")));
        }
        assertTrue(Files.exists(stranger) && Files.exists(unfinished));
        try (var entries = Files.list(parent)) {
            assertEquals(2, entries.count(), "closed directories are gone");
        }
    }
}
