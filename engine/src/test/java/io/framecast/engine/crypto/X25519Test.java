package io.framecast.engine.crypto;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.framecast.engine.libc.Libcrypto;
import io.framecast.reliability.crypto.Crypto;
import io.framecast.reliability.crypto.SecretBytes;
import io.framecast.reliability.crypto.X25519;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Both implementations against the values of RFC 7748, and against each other.
final class X25519Test {
    private static final HexFormat HEX = HexFormat.of();

    private static List<X25519> all() {
        final List<X25519> curves = new ArrayList<>(List.of(Crypto.JDK.curve()));
        if (Libcrypto.isPresent()) {
            curves.add(new LibcryptoX25519());
        }
        return curves;
    }

    private static String agree(final X25519 curve, final byte[] privateKey, final byte[] publicKey) {
        try (SecretBytes own = SecretBytes.take(privateKey.clone());
                SecretBytes agreed = Objects.requireNonNull(curve.agree(own, publicKey))) {
            return HEX.formatHex(agreed.segment().toArray(ValueLayout.JAVA_BYTE));
        }
    }

    private static void check(final String scalar, final String coordinate, final String expected) {
        for (final X25519 curve : all()) {
            assertEquals(expected, agree(curve, HEX.parseHex(scalar), HEX.parseHex(coordinate)));
        }
    }

    @Test
    void shouldMultiplyAsRfc7748Says() {
        // §5.2; the second coordinate has the highest bit set, which is left out.
        check(
                "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
                "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
                "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552");
        check(
                "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
                "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
                "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957");
    }

    @Test
    void shouldRepeatAsRfc7748Says() {
        // §5.2, after one round.
        repeat(1, "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079");
    }

    @Tag("campaign")
    @Test
    void shouldRepeatAThousandTimesAsRfc7748Says() {
        repeat(1000, "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51");
    }

    private static void repeat(final int rounds, final String expected) {
        for (final X25519 curve : all()) {
            byte[] scalar = HEX.parseHex("09" + "00".repeat(31));
            byte[] coordinate = scalar;
            for (int i = 0; i < rounds; i++) {
                final byte[] next = HEX.parseHex(agree(curve, scalar, coordinate));
                coordinate = scalar;
                scalar = next;
            }
            assertEquals(expected, HEX.formatHex(scalar));
        }
    }

    @Test
    void shouldAgreeAsRfc7748Says() {
        // §6.1.
        final String one = "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a";
        final String onePublic = "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a";
        final String other = "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb";
        final String otherPublic = "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f";
        final String secret = "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742";
        for (final X25519 curve : all()) {
            try (SecretBytes first = SecretBytes.take(HEX.parseHex(one));
                    SecretBytes second = SecretBytes.take(HEX.parseHex(other))) {
                assertEquals(onePublic, HEX.formatHex(curve.publicKey(first)));
                assertEquals(otherPublic, HEX.formatHex(curve.publicKey(second)));
            }
        }
        check(one, otherPublic, secret);
        check(other, onePublic, secret);
    }

    @Test
    void shouldRefusePointsOfSmallOrder() {
        // Bernstein 2006, https://cr.yp.to/ecdh.html, "validate"; and coordinates beyond the prime.
        final List<String> points = List.of(
                "00".repeat(32),
                "01" + "00".repeat(31),
                "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
                "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
                "ec" + "ff".repeat(30) + "7f",
                "ed" + "ff".repeat(30) + "7f",
                "ee" + "ff".repeat(30) + "7f");
        final SplittableRandom random = new SplittableRandom(1);
        for (final X25519 curve : all()) {
            try (SecretBytes own = X25519.newPrivateKey(random)) {
                for (final String point : points) {
                    assertNull(curve.agree(own, HEX.parseHex(point)), point);
                }
                assertNull(curve.agree(own, new byte[31]));
                assertNull(curve.agree(own, new byte[33]));
            }
        }
    }

    @Test
    void shouldBeTheSameByLibcryptoAndTheJdk() {
        final SplittableRandom random = new SplittableRandom(2);
        final X25519 first = all().getFirst();
        final X25519 second = all().getLast();
        for (int i = 0; i < 200; i++) {
            final byte[] point = new byte[32];
            random.nextBytes(point);
            try (SecretBytes own = X25519.newPrivateKey(random)) {
                assertArrayEquals(first.publicKey(own), second.publicKey(own));
                assertEquals(
                        agree(first, own.segment().toArray(ValueLayout.JAVA_BYTE), point),
                        agree(second, own.segment().toArray(ValueLayout.JAVA_BYTE), point));
            }
        }
    }
}
