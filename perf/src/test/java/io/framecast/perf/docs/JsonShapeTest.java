package io.framecast.perf.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.framecast.samples.json.Json;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class JsonShapeTest {
    private static final List<String> GOLDEN = List.of(
            "host string",
            "loss? decimal",
            "rows list",
            "rows[] object",
            "rows[].name string",
            "rows[].parts object",
            "rows[].parts.*? integer");

    private static List<String> differences(final String json) {
        final JsonShape golden = JsonShape.parse(GOLDEN);
        return golden.differences(golden.of((Map<?, ?>) Json.parse(json)));
    }

    @Test
    void shouldTakeWhatItDescribes() {
        assertEquals(GOLDEN, JsonShape.parse(GOLDEN).lines());
        assertEquals(List.of(), differences("{\"host\": \"a\", \"loss\": null, \"rows\": []}"));
        assertEquals(
                List.of(),
                differences("{\"host\": \"a\", \"rows\": [{\"name\": \"x\", \"parts\": {\"p\": 1, \"q\": 2}}]}"));
    }

    @Test
    void shouldNameWhatIsMissingOrNewOrOfAnotherType() {
        assertEquals(List.of("missing: host"), differences("{\"rows\": []}"));
        assertEquals(
                List.of("other type: host integer, expected host string"), differences("{\"host\": 1, \"rows\": []}"));
        assertEquals(List.of("new: port integer"), differences("{\"host\": \"a\", \"port\": 1, \"rows\": []}"));
        assertEquals(
                List.of("missing in some objects: rows[].name"),
                differences("{\"host\": \"a\", \"rows\": [{\"name\": \"x\", \"parts\": {}}, {\"parts\": {}}]}"));
        assertEquals(List.of("missing: rows[].parts"), differences("{\"host\": \"a\", \"rows\": [{\"name\": \"x\"}]}"));
    }

    @Test
    void shouldNotCompareTheContentOfWhatWasEmpty() {
        final JsonShape golden =
                JsonShape.parse(List.of("any null", "gpus list", "links object", "nics list", "nics[] string"));
        final String json = "{\"any\": {\"a\": 1}, \"gpus\": [{\"pci\": 3}], \"links\": {\"x\": 1}, \"nics\": [{}]}";
        assertEquals(
                List.of("other type: nics[] object, expected nics[] string"),
                golden.differences(golden.of((Map<?, ?>) Json.parse(json))));
    }

    @Test
    void shouldGrowByWhatARunShows() {
        final JsonShape shape = JsonShape.parse(List.of());
        shape.merge(shape.of(Map.of("a", 1L, "b", Map.of("c", true))));
        assertEquals(List.of("a integer", "b object", "b.c boolean"), shape.lines());
        shape.merge(shape.of(Map.of("b", Map.of("c", "x", "d", 1.5))));
        assertEquals(List.of("a? integer", "b object", "b.c boolean|string", "b.d? decimal"), shape.lines());
    }
}
