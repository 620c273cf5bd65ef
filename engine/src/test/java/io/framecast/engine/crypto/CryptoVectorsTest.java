package io.framecast.engine.crypto;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.framecast.reliability.crypto.Aead;
import io.framecast.reliability.crypto.Cipher;
import io.framecast.reliability.crypto.Crypto;
import io.framecast.reliability.crypto.Hkdf;
import io.framecast.reliability.crypto.SecretBytes;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Ciphers and derived keys against values that others computed.
final class CryptoVectorsTest {
    private static final HexFormat HEX = HexFormat.of();

    private static byte[] bytes(final String hex) {
        return hex.equals("-") ? new byte[0] : HEX.parseHex(hex);
    }

    private static MemorySegment segment(final Arena arena, final byte[] bytes) {
        final MemorySegment made = arena.allocate(Math.max(bytes.length, 1), 8);
        MemorySegment.copy(bytes, 0, made, ValueLayout.JAVA_BYTE, 0, bytes.length);
        return made.asSlice(0, bytes.length);
    }

    private static String hex(final MemorySegment segment) {
        return HEX.formatHex(segment.toArray(ValueLayout.JAVA_BYTE));
    }

    private record Sealed(int lane, long number, byte[] header, byte[] payload, byte[] sealed, byte[] tag) {}

    private static void check(final Aead aead, final Sealed vector) {
        try (Arena arena = Arena.ofConfined()) {
            final int headerBytes = vector.header.length;
            final MemorySegment headers = arena.allocate(headerBytes + (long) Aead.TAG_BYTES, 8);
            MemorySegment.copy(vector.header, 0, headers, ValueLayout.JAVA_BYTE, 0, headerBytes);
            final MemorySegment tag = headers.asSlice(headerBytes);
            final MemorySegment payload = segment(arena, vector.payload);
            aead.seal(vector.lane, vector.number, headers, 0, headerBytes, headerBytes, payload, 0, (int)
                    payload.byteSize());
            assertEquals(HEX.formatHex(vector.sealed), hex(payload), aead.name());
            assertEquals(HEX.formatHex(vector.tag), hex(tag), aead.name());
            assertTrue(open(aead, vector.lane, vector.number, headers, payload));
            assertArrayEquals(vector.payload, payload.toArray(ValueLayout.JAVA_BYTE));
            shouldRefuse(aead, vector, headers, payload);
        }
    }

    private static boolean open(
            final Aead aead,
            final int lane,
            final long number,
            final MemorySegment headers,
            final MemorySegment payload) {
        final int headerBytes = (int) headers.byteSize() - Aead.TAG_BYTES;
        return aead.open(lane, number, headers, 0, headerBytes, headerBytes, payload, 0, (int) payload.byteSize());
    }

    // One bit is wrong: of the header, the payload, the tag, the number, the lane.
    private static void shouldRefuse(
            final Aead aead, final Sealed vector, final MemorySegment headers, final MemorySegment payload) {
        final MemorySegment header = headers.asSlice(0, vector.header.length);
        for (final MemorySegment wrong : List.of(header, payload, headers.asSlice(vector.header.length))) {
            if (wrong.byteSize() > 0) {
                MemorySegment.copy(vector.sealed, 0, payload, ValueLayout.JAVA_BYTE, 0, vector.sealed.length);
                final long last = wrong.byteSize() - 1;
                final byte before = wrong.get(ValueLayout.JAVA_BYTE, last);
                wrong.set(ValueLayout.JAVA_BYTE, last, (byte) (before ^ 1));
                assertFalse(open(aead, vector.lane, vector.number, headers, payload), aead.name());
                wrong.set(ValueLayout.JAVA_BYTE, last, before);
            }
        }
        MemorySegment.copy(vector.sealed, 0, payload, ValueLayout.JAVA_BYTE, 0, vector.sealed.length);
        assertFalse(open(aead, vector.lane, vector.number + 1, headers, payload));
        MemorySegment.copy(vector.sealed, 0, payload, ValueLayout.JAVA_BYTE, 0, vector.sealed.length);
        assertFalse(open(aead, vector.lane ^ 1, vector.number, headers, payload));
        MemorySegment.copy(vector.sealed, 0, payload, ValueLayout.JAVA_BYTE, 0, vector.sealed.length);
        assertTrue(open(aead, vector.lane, vector.number, headers, payload), "and nothing stays behind");
    }

    private static void check(final Cipher cipher, final String key, final Sealed vector) {
        for (final Crypto crypto : List.of(Crypto.JDK, SystemCrypto.get())) {
            try (SecretBytes secret = SecretBytes.take(bytes(key));
                    Aead aead = crypto.aead(cipher, secret)) {
                check(aead, vector);
            }
        }
    }

    @Test
    void shouldSealAsRfc8439Says() {
        // Nir and Langley 2018, §2.8.2.
        check(
                Cipher.CHACHA20_POLY1305,
                "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f",
                new Sealed(
                        0x07000000,
                        0x4041424344454647L,
                        bytes("50515253c0c1c2c3c4c5c6c7"),
                        ("Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future,"
                                        + " sunscreen would be it.")
                                .getBytes(StandardCharsets.US_ASCII),
                        bytes("d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d6"
                                + "3dbea45e8ca9671282fafb69da92728b1a71de0a9e060b2905d6a5b67ecd3b36"
                                + "92ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc"
                                + "3ff4def08e4b7a9de576d26586cec64b6116"),
                        bytes("1ae10b594f09e26a7e902ecbd0600691")));
    }

    @Test
    void shouldSealAsTheAuthorsOfGcmSay() {
        // McGrew and Viega 2005, "The Galois/Counter Mode of Operation (GCM)", test case 16.
        check(
                Cipher.AES_GCM,
                "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
                new Sealed(
                        0xcafebabe,
                        0xfacedbaddecaf888L,
                        bytes("feedfacedeadbeeffeedfacedeadbeefabaddad2"),
                        bytes("d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
                                + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"),
                        bytes("522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
                                + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"),
                        bytes("76fc6ece0f4e1768cddf8853bb2d551b")));
    }

    @Test
    void shouldDeriveAsRfc5869Says() {
        // Appendix A.1 and A.3.
        derive(
                42,
                "000102030405060708090a0b0c",
                "f0f1f2f3f4f5f6f7f8f9",
                "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b",
                "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865");
        derive(
                42,
                "-",
                "-",
                "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b",
                "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8");
    }

    private static void derive(
            final int length, final String salt, final String info, final String secret, final String expected) {
        try (SecretBytes input = SecretBytes.take(bytes(secret));
                SecretBytes key = Hkdf.extract(bytes(salt), input);
                SecretBytes derived = Hkdf.expand(key, bytes(info), length)) {
            assertEquals(expected, hex(derived.segment()));
        }
    }

    @Test
    void shouldAgreeWithPython() throws IOException, InterruptedException {
        final Path script = Path.of("src/test/resources/io/framecast/engine/crypto/vectors.py");
        final Process python;
        try {
            python = new ProcessBuilder("/usr/bin/python3", script.toString())
                    .redirectErrorStream(true)
                    .start();
        } catch (final IOException e) {
            assumeTrue(false, "no python3: " + e.getMessage());
            return;
        }
        final List<String> lines;
        try (BufferedReader said =
                new BufferedReader(new InputStreamReader(python.getInputStream(), StandardCharsets.UTF_8))) {
            lines = said.lines().toList();
        }
        assumeTrue(python.waitFor() == 0, () -> "no python3-cryptography: " + lines);
        for (final String line : lines) {
            final String[] words = line.split(" ", -1);
            if (words[0].equals("seal")) {
                check(
                        Cipher.valueOf(words[1]),
                        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
                        new Sealed(
                                Integer.parseInt(words[2]),
                                Long.parseLong(words[3]),
                                bytes(words[4]),
                                bytes(words[5]),
                                bytes(words[6]),
                                bytes(words[7])));
            } else {
                derive(Integer.parseInt(words[1]), words[2], words[3], words[4], words[5]);
            }
        }
        assertEquals(18, lines.size());
    }
}
