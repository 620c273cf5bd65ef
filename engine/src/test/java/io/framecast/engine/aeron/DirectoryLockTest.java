package io.framecast.engine.aeron;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DirectoryLockTest {
    @TempDir
    Path parent;

    /// Two processes that lock files of one name and different inodes would both run a driver.
    @Test
    void shouldLockTheSameFileAgainWhenItWasFreed() throws IOException {
        final Path file = parent.resolve("lock");
        final Object key;
        try (DirectoryLock lock = DirectoryLock.tryLock(parent)) {
            assertNotNull(lock);
            key = Files.readAttributes(file, BasicFileAttributes.class).fileKey();
        }
        try (DirectoryLock lock = DirectoryLock.tryLock(parent)) {
            assertNotNull(lock);
            assertEquals(
                    key, Files.readAttributes(file, BasicFileAttributes.class).fileKey());
        }
    }
}
