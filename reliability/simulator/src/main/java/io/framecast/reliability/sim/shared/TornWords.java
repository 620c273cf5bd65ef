package io.framecast.reliability.sim.shared;

import io.framecast.reliability.group.SegmentLayout;
import io.framecast.reliability.group.TableLayout;
import java.util.function.Consumer;

/// Words to a member that does not look whether an entry of the frame table is whole.
final class TornWords extends SimWords {
    private final TableLayout layout;

    TornWords(final byte[] words, final TableLayout layout, final Consumer<Step> store) {
        super(words, layout, store);
        this.layout = layout;
    }

    @Override
    public long getLongVolatile(final int offset) {
        final long word = getLong(offset);
        if (offset == SegmentLayout.PUBLISHED_AT) {
            return getLong(layout.entry(word)) >= SegmentLayout.version(word) - 1 ? word + 1 : word;
        }
        final boolean isVersion = offset >= layout.entry(0)
                && offset < layout.metadata(0)
                && (offset - layout.entry(0)) % SegmentLayout.ENTRY_BYTES == 0;
        return isVersion ? word + (word & 1) : word;
    }
}
