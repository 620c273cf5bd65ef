package io.framecast.perf.litmus;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/// What came of one litmus test.
///
/// @param direction `to-device` or `to-host`
/// @param placement the way payloads took, as the subscriber told it; of a source its chunks
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

    Map<String, Object> json(final boolean catchesPlants) {
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("direction", direction);
        json.put("placement", placement);
        json.put("way", way.word());
        json.put("planted", way.planted());
        json.put("rounds", rounds);
        json.put("checked", checked);
        json.put("wrong_words", wrongWords);
        json.put("ok", isMet(catchesPlants));
        return json;
    }

    String text(final boolean catchesPlants) {
        final String verdict = way.planted() ? (wrongWords > 0 ? "planted, caught" : "planted, not seen") : "kept";
        return String.format(
                Locale.ROOT,
                "%-9s %-14s %,6d rounds, %,8d wrong words: %s [%s]",
                direction,
                way.word(),
                checked,
                wrongWords,
                isMet(catchesPlants) ? verdict : "FAILED",
                placement);
    }
}
