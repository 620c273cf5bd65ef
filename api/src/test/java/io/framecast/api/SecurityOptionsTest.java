package io.framecast.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.SecurityOptions.Cipher;
import io.framecast.api.error.ConfigException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class SecurityOptionsTest {
    private static final String URI = "framecast:udp?group=224.20.30.39:24326";

    private static SecurityOptions parsed(final String keys) {
        final Channel channel = Channel.parse(URI + keys);
        assertEquals(channel, Channel.parse(channel.toString()));
        assertEquals(URI + keys, channel.toString());
        return channel.link().security();
    }

    @ParameterizedTest
    @CsvSource({
        "'', NONE, false, false",
        "|auth=psk:key, AUTO, true, true",
        "|auth=psk:key|cipher=auto, AUTO, true, false",
        "|auth=keys:keys|cipher=aes-gcm, AES_GCM, true, false",
        "|auth=psk:key|cipher=chacha20-poly1305|rekey=3600s, CHACHA20_POLY1305, true, false",
        "|auth=psk:key|payloads=unprotected, NONE, false, false"
    })
    void shouldEncryptPayloadsWhereverThereAreKeysUnlessToldOtherwise(
            final String keys, final Cipher cipher, final boolean isEncrypted, final boolean isByDefault) {
        final SecurityOptions security = parsed(keys);
        assertEquals(cipher, security.payloadCipher());
        assertEquals(isEncrypted, security.isEncrypted());
        assertEquals(isByDefault, security.isByDefault());
        assertEquals(!keys.isEmpty(), security.isAuthenticated());
    }

    @Test
    void shouldTakeNoCipherTwice() {
        final SecurityOptions security = Channel.parse(URI + "|auth=psk:key|cipher=none|payloads=unprotected")
                .link()
                .security();
        assertFalse(security.isEncrypted());
        assertTrue(security.isAuthenticated());
        assertFalse(Channel.parse(URI + "|cipher=none").link().security().isAuthenticated());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            value = {
                "|auth=psk:key|cipher=none # cipher: none beside auth= leaves payloads without protection; write"
                        + " payloads=unprotected at both ends, or leave cipher= out",
                "|payloads=unprotected # payloads: expected auth= beside it, got unprotected alone",
                "|auth=psk:key|payloads=plain # payloads: expected unprotected, got plain",
                "|auth=psk:key|cipher=auto|payloads=unprotected # payloads: expected no cipher= beside unprotected, got"
                        + " cipher=auto",
                "|cipher=auto # cipher: expected auth= beside it, got auto alone"
            })
    void shouldRefuseWhatContradictsItself(final String keys, final String line) {
        final ConfigException refused = assertThrows(ConfigException.class, () -> Channel.parse(URI + keys));
        assertEquals("channel URI: " + line, refused.getMessage());
    }
}
