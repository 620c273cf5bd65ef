package io.framecast.engine.clients;

import io.framecast.api.ChannelKey;
import io.framecast.engine.libc.CHeader;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import org.junit.jupiter.api.Test;

/// The keys that `clients/c` knows are those of [ChannelKey], in its order.
final class ChannelKeysHeaderTest {
    @Test
    void shouldAgreeWithTheHeaderOfTheCClient() throws IOException {
        final SequencedMap<String, String> keys = new LinkedHashMap<>();
        for (final ChannelKey key : ChannelKey.values()) {
            keys.put(key.name(), key.key());
        }
        new CHeader(
                        "clients/c/src/channel_keys.h",
                        "Written by ChannelKeysHeaderTest.java from ChannelKey.java.",
                        "FC_CHANNEL_KEYS_H",
                        "FC_")
                .defineRows("CHANNEL_KEYS", keys)
                .shouldBeWritten();
    }
}
