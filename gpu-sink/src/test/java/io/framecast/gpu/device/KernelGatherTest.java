package io.framecast.gpu.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.api.spi.KernelSource;
import io.framecast.gpu.emulated.EmulatedConfig;
import io.framecast.gpu.emulated.EmulatedDevice;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/// When pieces go by the kernel; that they come right is the device's contract.
class KernelGatherTest {
    private static final int PIECE_BYTES = 100;

    private final AtomicBoolean crowded = new AtomicBoolean();

    private static void add(final KernelGather gather, final DeviceRegion region, final int pieces) {
        for (int i = 0; i < pieces; i++) {
            final long at = region.address() + 2L * i * PIECE_BYTES;
            gather.add(at + PIECE_BYTES, at, PIECE_BYTES);
        }
        gather.flush();
    }

    private void assertLaunches(final long expected, final int pieces) {
        try (DeviceBackend device = new EmulatedDevice(0, EmulatedConfig.DEFAULT)) {
            final DeviceStream stream = device.openStream();
            final DeviceRegion region = device.allocate(2L * pieces * PIECE_BYTES);
            final MemorySegment host = device.allocatePinned(region.bytes());
            for (long i = 0; i < pieces; i++) {
                stream.fill(region.address() + 2 * i * PIECE_BYTES, (byte) (i + 1), PIECE_BYTES);
            }
            final KernelGather gather = KernelGather.of(device, stream, crowded::get, 4);
            add(gather, region, pieces);
            stream.copyToHost(host, 0, region.address(), region.bytes());
            stream.synchronize();
            for (long i = 0; i < pieces; i++) {
                final MemorySegment piece = host.asSlice(2 * i * PIECE_BYTES, PIECE_BYTES);
                assertEquals(-1, piece.mismatch(host.asSlice((2 * i + 1) * PIECE_BYTES, PIECE_BYTES)), "piece " + i);
            }
            assertEquals(expected, gather.launches());
        }
    }

    @Test
    void shouldLaunchOnceForManyPiecesAndNotForFew() {
        assertLaunches(0, 3);
        assertLaunches(1, 4);
        assertLaunches(1, KernelGather.PIECES_MAX);
        // Ten and ten; what is left is few.
        assertLaunches(2, 2 * KernelGather.PIECES_MAX + 3);
    }

    @Test
    void shouldCopyBesideAPersistentKernel() {
        crowded.set(true);
        assertLaunches(0, KernelGather.PIECES_MAX);
    }

    @Test
    void shouldShipThePtxOfItsSource() throws IOException, NoSuchAlgorithmException {
        final Path source = Path.of(System.getProperty("basedir", ".")).resolve("src/main/cuda/gather.cu");
        final String ptx = new String(
                KernelSource.resource(KernelGather.class, KernelGather.PTX_RESOURCE)
                        .get(),
                StandardCharsets.UTF_8);
        final byte[] digest = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(source));
        assertTrue(ptx.contains("gather.cu, sha256 " + HexFormat.of().formatHex(digest)), "run build.sh");
        assertTrue(ptx.contains(".visible .entry framecast_gather("));
    }
}
