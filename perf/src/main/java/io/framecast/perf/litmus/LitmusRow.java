package io.framecast.perf.litmus;

import io.framecast.perf.table.Table;

/// The result of one litmus test.
///
/// @param direction `to-device` or `to-host`
/// @param placement the way payloads took, as the subscriber reports it; of a source its chunks
/// @param rounds frames
/// @param checked frames that were looked at
/// @param wrongWords 64-bit words that were not what they should be
record LitmusRow(String direction, String placement, LitmusWay way, long rounds, long checked, long wrongWords) {
    /// Whether nothing was wrong, or what was planted was seen.
    ///
    /// @param catchesPlants whether what is planted must be seen: on real hardware it may pass by luck
    boolean isMet(final boolean catchesPlants) {
        return checked == rounds && (way.planted() ? wrongWords > 0 || !catchesPlants : wrongWords == 0);
    }

    static Table<LitmusRow> table(final boolean catchesPlants) {
        return new Table<LitmusRow>()
                .left(2)
                .both("direction", "direction", LitmusRow::direction)
                .both("way", "way", row -> row.way.word())
                .field("planted", row -> row.way.planted())
                .field("rounds", LitmusRow::rounds)
                .both("checked", "rounds", LitmusRow::checked)
                .both("wrong_words", "wrong words", LitmusRow::wrongWords)
                .field("ok", row -> row.isMet(catchesPlants))
                .column("verdict", row -> row.verdict(catchesPlants))
                .both("placement", "placement", LitmusRow::placement);
    }

    private String verdict(final boolean catchesPlants) {
        if (!isMet(catchesPlants)) {
            return "FAILED";
        }
        return way.planted() ? (wrongWords > 0 ? "planted, caught" : "planted, not seen") : "kept";
    }

    String text(final boolean catchesPlants) {
        return direction + " " + way.word() + ": " + checked + " rounds, " + wrongWords + " wrong words: "
                + verdict(catchesPlants) + " [" + placement + "]";
    }
}
