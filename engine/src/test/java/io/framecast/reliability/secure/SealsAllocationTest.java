package io.framecast.reliability.secure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.framecast.engine.crypto.SystemCrypto;
import io.framecast.engine.libc.Libcrypto;
import io.framecast.reliability.crypto.Cipher;
import io.framecast.reliability.crypto.SecretBytes;
import io.framecast.reliability.wire.DataHeader;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.StreamInfo.Seal;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Datagrams that are sealed and opened allocate nothing.
final class SealsAllocationTest {
    private static final int PAYLOAD_BYTES = 256;
    private static final int SLOTS = 64;
    private static final int ROUNDS = 2_000;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment headers = arena.allocate((long) SLOTS * DataLayout.SEALED_LENGTH, 64);
    private final MemorySegment payload = arena.allocate((long) SLOTS * PAYLOAD_BYTES, 64);
    private final DataHeader header = new DataHeader();
    private long sequence;

    private static DataKeys keys() {
        final byte[] data = new byte[Cipher.KEY_BYTES];
        Arrays.fill(data, (byte) 3);
        final DataKeys keys = new DataKeys();
        keys.epochs()
                .add(new EpochKeys(
                        SystemCrypto.get(), 1, SecretBytes.take(new byte[Cipher.KEY_BYTES]), SecretBytes.take(data)));
        keys.change(1);
        return keys;
    }

    // Frames of eight datagrams.
    private boolean flow(final DatagramSeals source, final DatagramSeals receiver) {
        boolean opened = true;
        for (int i = 0; i < SLOTS; i++) {
            final long at = (long) i * DataLayout.SEALED_LENGTH;
            header.session(DataLayout.TYPE_DATA, 7).frame(sequence / 8, 8 * PAYLOAD_BYTES, sequence / 8);
            DataLayout.write(headers, at, header, sequence, sequence % 8);
            source.seal(headers, at, payload, (long) i * PAYLOAD_BYTES, PAYLOAD_BYTES);
            opened &= receiver.open(headers, at, payload, (long) i * PAYLOAD_BYTES, PAYLOAD_BYTES);
            sequence++;
        }
        return opened;
    }

    @ParameterizedTest
    @EnumSource(
            value = Seal.class,
            names = {"HEADER", "AES_GCM", "CHACHA20_POLY1305"})
    void shouldAllocateNothingPerDatagram(final Seal seal) {
        final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        Assumptions.assumeTrue(
                threads.isThreadAllocatedMemorySupported() && threads.isThreadAllocatedMemoryEnabled(),
                "this JVM does not count allocated bytes");
        Assumptions.assumeTrue(Libcrypto.isPresent(), "no libcrypto 3: the JDK's ciphers allocate");
        final DataKeys sealing = keys();
        final DataKeys opening = keys();
        try (arena;
                DatagramSeals source = DatagramSeals.of(seal, sealing, SystemCrypto.get());
                DatagramSeals receiver = DatagramSeals.of(seal, opening, SystemCrypto.get())) {
            long least = Long.MAX_VALUE;
            // A compilation that ends within a round may deoptimize and allocate: the best of twenty counts.
            for (int round = 0; round < 20 && least > 0; round++) {
                final long before = threads.getCurrentThreadAllocatedBytes();
                boolean opened = true;
                for (int i = 0; i < ROUNDS; i++) {
                    opened &= flow(source, receiver);
                }
                least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
                assertTrue(opened);
            }
            assertEquals(0, least);
        } finally {
            sealing.close();
            opening.close();
        }
    }
}
