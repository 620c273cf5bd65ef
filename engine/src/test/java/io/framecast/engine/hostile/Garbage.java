package io.framecast.engine.hostile;

import io.framecast.api.spi.LaneKind;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// Makes hostile datagrams of genuine ones: noise, cuts, bit flips, replays, other sessions, and impossible
/// numbers under a correct checksum. A receiver can recognise each of them. An attacker that knows the session's
/// nonce can forge more, because the nonce is no key.
final class Garbage {
    private static final int SAMPLES = 128;
    private static final int HEADER = 40;
    private static final int CHECKSUM = 4;
    private static final int CONTROL_SESSION = 8;
    private static final int CONTROL_RECEIVER = 16;
    private static final int CONTROL_BODY = 32;
    private static final int HEARTBEAT = 1;
    private static final int ACK = 6;
    private static final int DATA = 1;
    private static final int DATA_SESSION = 8;
    private static final int DATA_SEQUENCE = 16;
    private static final int DATA_FRAME_BYTES = 32;
    private static final int DATA_FRAME_INDEX = 36;

    // High halves of nonces: learnt from control datagrams, because data headers carry the low half only.
    private static long session;

    private final Random random;
    private final boolean control;
    private final byte[][] samples = new byte[SAMPLES][];
    private int learnt;

    Garbage(final Random random, final LaneKind kind) {
        this.random = random;
        control = kind == LaneKind.CONTROL;
    }

    void learn(final byte[] datagram) {
        samples[learnt++ % SAMPLES] = datagram;
        if (control) {
            session = view(datagram).getLong(CONTROL_SESSION);
        }
    }

    /// The next hostile datagram, at most `bytesMax` long; null before the first genuine one was learnt.
    byte @Nullable [] next(final int bytesMax) {
        if (learnt == 0) {
            return null;
        }
        final byte[] sample = samples[random.nextInt(Math.min(learnt, SAMPLES))].clone();
        return switch (random.nextInt(8)) {
            case 0 -> noise(1 + random.nextInt(bytesMax));
            case 1 -> flip(sample);
            case 2 -> Arrays.copyOf(sample, random.nextInt(sample.length));
            case 3 -> Arrays.copyOf(sample, Math.min(bytesMax, sample.length + 1 + random.nextInt(32)));
            case 4 -> sample;
            case 5 -> otherSession(sample);
            default -> control ? impossibleControl(sample) : impossibleData(sample);
        };
    }

    private byte[] noise(final int bytes) {
        final byte[] noise = new byte[bytes];
        random.nextBytes(noise);
        return noise;
    }

    // The payload has no checksum of its own, so flips stay within the bytes that the header's checksum covers.
    private byte[] flip(final byte[] sample) {
        final int bits = 8 * (control ? sample.length : Math.min(HEADER, sample.length));
        final int flips = 1 + random.nextInt(3);
        int bit = random.nextInt(bits);
        for (int i = 0; i < flips; i++) {
            sample[bit >>> 3] ^= (byte) (1 << (bit & 7));
            bit = (bit + 1 + random.nextInt(bits - flips)) % bits;
        }
        return sample;
    }

    private byte[] otherSession(final byte[] sample) {
        final ByteBuffer view = view(sample);
        if (control) {
            view.putLong(CONTROL_SESSION, random.nextLong());
            return sealControl(sample);
        }
        final long other = random.nextLong();
        view.putInt(DATA_SESSION, (int) other);
        return sealData(sample, other);
    }

    private byte[] impossibleData(final byte[] sample) {
        final ByteBuffer view = view(sample);
        switch (random.nextInt(7)) {
            case 0 -> view.putLong(DATA_SEQUENCE, 1L << (40 + random.nextInt(23)));
            case 1 -> view.putInt(DATA_FRAME_BYTES, 0);
            case 2 -> view.putInt(DATA_FRAME_BYTES, -1 - random.nextInt(1_000));
            case 3 -> view.putInt(DATA_FRAME_INDEX, Integer.MIN_VALUE | random.nextInt());
            case 4 -> view.putShort(2, (short) -1);
            case 5 -> sample[0] = (byte) ((1 << 4) | (3 + random.nextInt(13)));
            default -> sample[0] = (byte) ((2 << 4) | DATA);
        }
        return sealData(sample, session);
    }

    private byte[] impossibleControl(final byte[] sample) {
        final ByteBuffer view = view(sample);
        final int type = sample[0] & 0xf;
        switch (random.nextInt(5)) {
            case 0 -> sample[0] = (byte) ((1 << 4) | (12 + random.nextInt(4)));
            case 1 -> sample[0] = (byte) ((2 << 4) | type);
            case 2 -> {
                // A random receiver id makes the datagram one from or to a stranger.
                view.putLong(CONTROL_RECEIVER, random.nextLong() | 1);
                for (int i = CONTROL_BODY; i < sample.length && type != 2; i++) {
                    sample[i] = (byte) random.nextInt();
                }
                if (type == 2) {
                    // A stranger's JOIN would be admitted, so its address is made impossible.
                    Arrays.fill(sample, CONTROL_BODY, sample.length, (byte) 0xee);
                }
            }
            default -> {
                if (type == HEARTBEAT) {
                    switch (random.nextInt(4)) {
                        case 0 -> view.putLong(32, -1);
                        case 1 -> view.putLong(32, 1L << 61);
                        case 2 -> view.putInt(64, 7);
                        default -> view.putLong(56, 0);
                    }
                } else if (type == ACK) {
                    view.putLong(32, 1L << 61);
                } else {
                    sample[0] = (byte) (1 << 4);
                }
            }
        }
        return sealControl(sample);
    }

    private static byte[] sealControl(final byte[] datagram) {
        final ByteBuffer view = view(datagram);
        view.putInt(CHECKSUM, 0);
        view.putInt(CHECKSUM, crc(datagram, datagram.length));
        return datagram;
    }

    private static byte[] sealData(final byte[] datagram, final long nonce) {
        final ByteBuffer view = view(datagram);
        view.putInt(CHECKSUM, (int) (nonce >>> 32));
        view.putInt(CHECKSUM, crc(datagram, HEADER));
        return datagram;
    }

    private static int crc(final byte[] bytes, final int length) {
        final CRC32C crc = new CRC32C();
        crc.update(bytes, 0, length);
        return (int) crc.getValue();
    }

    private static ByteBuffer view(final byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }
}
