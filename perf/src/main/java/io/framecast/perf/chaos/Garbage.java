package io.framecast.perf.chaos;

import java.util.Random;

/// Makes datagrams that mean nothing: random bytes, random bytes that begin as one of the protocol's, and
/// real ones with something changed. A payload alone is never changed: without keys (`auth=`) a receiver cannot
/// detect that, and the kernel's own checksum detects accidents.
final class Garbage {
    /// Largest datagram at MTU 1500.
    static final int BYTES_MAX = 1_472;

    private static final int KINDS = 5;
    private static final int FLIPS_MAX = 8;
    // Of both headers: what lies here is under the header's own checksum on every lane.
    private static final int CHECKED_BYTES = 32;
    private static final int VERSION = 0x20;
    private static final int KINDS_OF_HEADERS = 16;
    private static final int TYPES = 20;

    private final Random random;

    Garbage(final long seed) {
        random = new Random(seed);
    }

    /// @param real a datagram that was seen; empty when none was yet
    byte[] next(final byte[] real) {
        final int kind = random.nextInt(KINDS);
        return switch (real.length < CHECKED_BYTES ? 0 : kind) {
            case 0 -> noise();
            case 1 -> plausible();
            case 2 -> cut(real);
            case 3 -> longer(real);
            default -> flipped(real);
        };
    }

    private byte[] noise() {
        final byte[] bytes = new byte[random.nextInt(BYTES_MAX + 1)];
        random.nextBytes(bytes);
        return bytes;
    }

    // The protocol's version, a kind of header, a type, a length that fits.
    private byte[] plausible() {
        final byte[] bytes = new byte[CHECKED_BYTES + random.nextInt(BYTES_MAX - CHECKED_BYTES)];
        random.nextBytes(bytes);
        bytes[0] = (byte) (VERSION | random.nextInt(KINDS_OF_HEADERS));
        bytes[1] = (byte) random.nextInt(TYPES);
        bytes[2] = (byte) bytes.length;
        bytes[3] = (byte) (bytes.length >>> Byte.SIZE);
        return bytes;
    }

    private byte[] cut(final byte[] real) {
        return java.util.Arrays.copyOf(real, random.nextInt(real.length));
    }

    private byte[] longer(final byte[] real) {
        final byte[] bytes = flipped(real);
        return java.util.Arrays.copyOf(bytes, Math.min(BYTES_MAX, bytes.length + 1 + random.nextInt(CHECKED_BYTES)));
    }

    private byte[] flipped(final byte[] real) {
        final byte[] bytes = real.clone();
        bytes[random.nextInt(CHECKED_BYTES)] ^= (byte) (1 << random.nextInt(Byte.SIZE));
        for (int i = random.nextInt(FLIPS_MAX); i > 0; i--) {
            bytes[random.nextInt(bytes.length)] ^= (byte) (1 + random.nextInt(0xff));
        }
        // Two flips of one bit would give the datagram as it was.
        if (java.util.Arrays.equals(bytes, 0, CHECKED_BYTES, real, 0, CHECKED_BYTES)) {
            bytes[CHECKED_BYTES - 1] ^= 1;
        }
        return bytes;
    }
}
