package io.framecast.samples.worker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class MotionReferenceTest {
    @Test
    void shouldTakeBytesAsUnsigned() {
        final MemorySegment current = MemorySegment.ofArray(new byte[] {0, 10, (byte) 255, 7, 99});
        final MemorySegment previous = MemorySegment.ofArray(new byte[] {5, 10, 0, 12});
        assertEquals(new MotionScore(3, 4, 1, 265), MotionReference.score(3, current, previous, 5));
        assertEquals(new MotionScore(3, 4, 3, 265), MotionReference.score(3, current, previous, 4));
        assertEquals(0.75, MotionReference.score(3, current, previous, 4).changedShare());
    }

    @Test
    void shouldShipPtxBuiltFromTheSource() throws IOException, NoSuchAlgorithmException {
        final Path source = Path.of(System.getProperty("basedir", ".")).resolve("src/main/cuda/motion.cu");
        final byte[] digest = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(source));
        final String ptx = new String(MotionKernel.ptx(), StandardCharsets.UTF_8);
        final String first = ptx.lines().findFirst().orElseThrow();
        assertTrue(
                first.endsWith("sha256 " + HexFormat.of().formatHex(digest)),
                "motion.cu changed: run src/main/cuda/build.sh");
        assertTrue(ptx.contains("\n.version 6.0\n"), "PTX for drivers since CUDA 9");
        assertTrue(ptx.contains("\n.target sm_60\n"), "PTX for GPUs since Pascal");
        assertTrue(ptx.contains(".visible .entry motion("));
    }
}
