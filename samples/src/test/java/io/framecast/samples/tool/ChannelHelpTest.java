package io.framecast.samples.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.ChannelKey;
import org.junit.jupiter.api.Test;

class ChannelHelpTest {
    @Test
    void shouldNameEveryKeyOfAChannel() {
        final ToolFixture.Run run = new ToolFixture().run("help", "channel");
        assertEquals(0, run.status());
        final String text = run.outText();
        for (final ChannelKey key : ChannelKey.values()) {
            assertTrue(text.contains("\n  " + key.key() + " "), () -> key.key() + " in " + text);
        }
        assertFalse(text.contains("|---") || text.contains("`") || text.contains("]("), text);
    }

    @Test
    void shouldWrapTheLastColumnOfATable() {
        assertEquals("""
                Keys

                  key   value
                  ring  bytes of the
                        ring, or 0
                end
                """, MarkdownText.of("""
                        ## Keys

                        | key | value |
                        |---|---|
                        | `ring` | bytes of the [ring](x.md), or 0 |
                        end
                        """, 21));
    }
}
