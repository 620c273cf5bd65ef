package io.framecast.engine.subscribe;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class SourceReportsTest {
    @Test
    void shouldNameTheCauseOfTheLossAndTheTimeWhenASourceDoesNotReturn() {
        assertEquals("silent; waited 100 ms (rejoin) in vain", SourceReports.vain("silent", 100));
    }
}
