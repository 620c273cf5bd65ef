package io.framecast.engine.hostgroup;

import io.framecast.engine.libc.CHeader;
import io.framecast.reliability.group.SegmentLayout;
import io.framecast.reliability.group.TableLayout;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/// The layout of followers in `clients/c` is written from [SegmentLayout] and [GroupMessage].
final class CLayoutTest {
    @Test
    void shouldAgreeWithTheHeaderOfTheCClient() throws IOException, IllegalAccessException {
        new CHeader(
                        "clients/c/src/segment_layout.h",
                        "Written by CLayoutTest.java from SegmentLayout.java and GroupMessage.java.",
                        "FC_SEGMENT_LAYOUT_H",
                        "FC_LAYOUT_")
                .defineAll(SegmentLayout.class, "")
                .define("TABLE_PLACE", TableLayout.FULL.entry(0))
                .define("METADATA_PLACE", TableLayout.FULL.metadata(0))
                .define("MEMBERS_PLACE", SegmentLayout.member(0))
                .define("DEVICES_PLACE", TableLayout.FULL.device(0))
                .define("FORMATS_PLACE", TableLayout.FULL.format(1))
                .define("READERS_PLACE", TableLayout.FULL.reader(0))
                .define("WORDS_BYTES", TableLayout.FULL.wordsBytes())
                .emptyLine()
                .defineAll(GroupMessage.class, "MESSAGE_")
                .shouldBeWritten();
    }
}
