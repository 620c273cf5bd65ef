package io.framecast.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// [ConnectionContract] on the stand-in, and what only it lets happen.
final class StandInConnectionTest extends ConnectionContract {
    @TempDir
    Path directory;

    @Override
    Fabric fabric() {
        return Fabric.standIn();
    }

    @Test
    void shouldTellAsyncEvents() {
        near.connect(far);
        far.connect(near);
        try (Arena scratch = Arena.ofConfined()) {
            final AsyncEvents events = far.context.asyncEvents(1, scratch);
            assertNull(events.next());
            near.sends.write(0, far.at(0), far.region.remoteKey() + 256);
            assertEquals(VerbsConstants.IBV_WC_REM_ACCESS_ERR, near.perform(0, 16));
            final AsyncEvent access = events.next();
            assertEquals(AsyncEvent.Kind.QP_ACCESS_ERROR, access.kind());
            assertTrue(access.isOf(far.queuePair));
            assertFalse(access.isOf(far.completions));
            StandIn.load().portEvent(far.queuePair, AsyncEvent.Kind.PORT_ERROR.ordinal());
            StandIn.load().portEvent(far.queuePair, 77);
            assertEquals(new AsyncEvent(AsyncEvent.Kind.PORT_ERROR, 1, 0), events.next());
            assertEquals(AsyncEvent.Kind.UNKNOWN, events.next().kind());
            assertNull(events.next());
        }
    }

    @Test
    void shouldReachDeviceMemoryByItsDmaBuf() throws Exception {
        final StandIn standIn = StandIn.load();
        standIn.set("takes_dma_buf", 1);
        // A file stands for the dma-buf: the requests' address is not the process's.
        final long deviceAddress = 0x7000_0000_0000L;
        try (RandomAccessFile file =
                new RandomAccessFile(directory.resolve("device").toFile(), "rw")) {
            file.setLength(8192);
            try (MemoryRegion device = far.domain.registerDmaBuf(
                    descriptor(file), 4096, deviceAddress, 4096, Access.LOCAL_WRITE | Access.REMOTE_WRITE)) {
                near.connect(far);
                far.connect(near);
                near.memory.set(JAVA_BYTE, 0, (byte) 77);
                near.sends.write(0, deviceAddress + 5, device.remoteKey());
                assertEquals(CompletionStatus.SUCCESS, near.perform(0, 1));
                file.seek(4096 + 5);
                assertEquals(77, file.read());
            }
        } finally {
            standIn.set("takes_dma_buf", 0);
        }
    }

    private static int descriptor(final RandomAccessFile file) throws IOException {
        try (DirectoryStream<Path> links = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (final Path link : links) {
                if (Files.isSymbolicLink(link) && Files.readSymbolicLink(link).endsWith("device")) {
                    return Integer.parseInt(link.getFileName().toString());
                }
            }
        }
        throw new AssertionError("no descriptor of " + file);
    }
}
