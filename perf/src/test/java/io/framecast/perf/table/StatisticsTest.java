package io.framecast.perf.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class StatisticsTest {
    @Test
    void shouldTakeTheMiddleValueWhenTheirNumberIsOdd() {
        assertEquals(new Statistics(1, 2, 3, 4, 5), Statistics.of(List.of(5.0, 1.0, 4.0, 2.0, 3.0)));
    }

    @Test
    void shouldTakeTheMeanOfTheMiddleTwoWhenTheirNumberIsEven() {
        assertEquals(new Statistics(1, 1.75, 2.5, 3.25, 4), Statistics.of(List.of(4.0, 3.0, 2.0, 1.0)));
    }

    @Test
    void shouldLeaveOutWhatIsNotKnown() {
        assertEquals(new Statistics(7, 7, 7, 7, 7), Statistics.of(List.of(Double.NaN, 7.0, Double.NaN)));
        assertTrue(Double.isNaN(Statistics.of(List.of(Double.NaN)).median()));
        assertTrue(Double.isNaN(Statistics.of(List.of()).max()));
    }

    @Test
    void shouldNotDependOnTheOrderOfValues() {
        final Random random = new Random(3);
        for (int i = 0; i < 200; i++) {
            final List<Double> values = new ArrayList<>();
            for (int n = random.nextInt(1, 30); n > 0; n--) {
                values.add(random.nextDouble(1_000));
            }
            final Statistics sorted = Statistics.of(values.stream().sorted().toList());
            Collections.shuffle(values, random);
            assertEquals(sorted, Statistics.of(values));
            assertTrue(sorted.min() <= sorted.q1() && sorted.q1() <= sorted.median());
            assertTrue(sorted.median() <= sorted.q3() && sorted.q3() <= sorted.max());
        }
    }

    @Test
    void shouldKnowNoRatioWhenThereIsNothingToDivideBy() {
        assertEquals(0.5, Statistics.ratio(2, 4));
        assertTrue(Double.isNaN(Statistics.ratio(2, 0)));
        assertTrue(Double.isNaN(Statistics.ratio(2, Double.NaN)));
        assertTrue(Double.isNaN(Statistics.ratio(Double.NaN, 2)));
    }
}
