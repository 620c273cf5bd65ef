package io.framecast.perf.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class TableTest {
    private record Row(String name, double value, List<Integer> parts) {}

    private static final Table<Row> TABLE = new Table<Row>()
            .field("name", Row::name)
            .field("value", Row::value)
            .field("nested", row -> Map.of("half", row.value / 2))
            .field("parts", Row::parts)
            .groupedBy(row -> "group " + row.parts.size())
            .column("name", Row::name)
            .column("value", row -> Table.decimal(row.value, 1))
            .column("empty", _ -> Table.UNKNOWN);
    private static final List<Row> ROWS = List.of(
            new Row("a", 1.23456789, List.of(1)), new Row("b", Double.NaN, List.of(1)), new Row("c", 22, List.of()));

    @Test
    void shouldQuoteFieldsOfCsv() {
        assertEquals("plain", Table.csv("plain"));
        assertEquals("", Table.csv((Object) null));
        assertEquals("\"a <b> & \"\"c\"\", d\"", Table.csv("a <b> & \"c\", d"));
    }

    @Test
    void shouldFlattenRowsForCsv() {
        assertEquals(
                "name,value,nested_half,parts\r\na,1.234568,0.617284,1\r\nb,,,1\r\nc,22.0,11.0,0\r\n", TABLE.csv(ROWS));
        assertEquals("", TABLE.csv(List.of()));
    }

    @Test
    void shouldRoundInJsonAndSayNullForAnUnknownNumber() {
        assertEquals(1.234568, TABLE.json(ROWS).getFirst().get("value"));
        assertNull(TABLE.json(ROWS).get(1).get("value"));
        assertEquals(List.of(1), TABLE.json(ROWS).getFirst().get("parts"));
    }

    @Test
    void shouldAlignCellsBelowTheLineOfTheirGroupAndLeaveOutEmptyColumns() {
        assertEquals("  name  value\ngroup 1\n  a       1.2\n  b         –\ngroup 0\n  c      22.0", TABLE.text(ROWS));
    }
}
