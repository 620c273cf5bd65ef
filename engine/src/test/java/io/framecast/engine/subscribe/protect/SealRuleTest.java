package io.framecast.engine.subscribe.protect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.SecurityOptions;
import io.framecast.api.SecurityOptions.Cipher;
import io.framecast.api.SecurityOptions.Payloads;
import io.framecast.reliability.wire.StreamInfo.Seal;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SealRuleTest {
    private static SealRule keyed(final Cipher cipher, final Payloads payloads) {
        return SealRule.keyed(new SecurityOptions("psk:key", cipher, payloads, 0));
    }

    private static Set<Seal> taken(final SealRule rule) {
        final Set<Seal> taken = EnumSet.noneOf(Seal.class);
        for (final Seal seal : Seal.values()) {
            if (rule.refusal(seal).isEmpty()) {
                taken.add(seal);
            }
        }
        return taken;
    }

    private static void assertRefused(final SealRule rule, final Seal seal, final String expected) {
        final String line = rule.refusal(seal).orElseThrow();
        assertTrue(line.contains(expected), line);
    }

    @Test
    void shouldTakeTheSealsThatTheSubscribersOwnOptionsAskFor() {
        assertEquals(Set.of(Seal.NONE), taken(SealRule.PLAIN));
        assertEquals(Set.of(Seal.AES_GCM, Seal.CHACHA20_POLY1305), taken(keyed(Cipher.NONE, Payloads.PROTECTED)));
        assertEquals(Set.of(Seal.AES_GCM, Seal.CHACHA20_POLY1305), taken(keyed(Cipher.AUTO, Payloads.PROTECTED)));
        assertEquals(Set.of(Seal.AES_GCM), taken(keyed(Cipher.AES_GCM, Payloads.PROTECTED)));
        assertEquals(Set.of(Seal.CHACHA20_POLY1305), taken(keyed(Cipher.CHACHA20_POLY1305, Payloads.PROTECTED)));
        assertEquals(Set.of(Seal.HEADER), taken(keyed(Cipher.NONE, Payloads.UNPROTECTED)));
    }

    @Test
    void shouldNameTheOptionInWhichTheTwoEndsDiffer() {
        assertRefused(SealRule.PLAIN, Seal.HEADER, "auth: a source of this stream contradicts itself");
        assertRefused(keyed(Cipher.AUTO, Payloads.PROTECTED), Seal.NONE, "contradicts itself");
        assertRefused(keyed(Cipher.AES_GCM, Payloads.PROTECTED), Seal.CHACHA20_POLY1305, "cipher=aes-gcm");
        assertRefused(keyed(Cipher.AUTO, Payloads.PROTECTED), Seal.HEADER, "payloads: the source says unprotected");
        assertRefused(
                keyed(Cipher.NONE, Payloads.UNPROTECTED), Seal.AES_GCM, "payloads: this subscriber says unprotected");
    }
}
