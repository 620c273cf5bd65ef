package io.framecast.perf.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.framecast.perf.harness.FramesDifferException;
import io.framecast.perf.harness.ParentLink;
import io.framecast.perf.harness.Records;
import io.framecast.perf.rivals.Bystander;
import io.framecast.perf.rivals.MeasuredSystem;
import io.framecast.perf.rivals.ReceiverReport;
import io.framecast.perf.rivals.SourceReport;
import io.framecast.perf.rivals.StreamSpec;
import java.io.BufferedReader;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class BenchRoleTest {
    private static final StreamSpec SPEC = new StreamSpec(
            new StreamSpec.Load(
                    1_000,
                    2,
                    0,
                    100,
                    200,
                    new Bystander("deadline=40ms", Bystander.Pace.STOPPED),
                    0,
                    StreamSpec.Readers.OF_ENDS),
            new StreamSpec.Link("224.0.0.1", 20_000, "127.0.0.1", "", 1500, 0, true, 0),
            "127.0.0.1",
            1);

    private final List<String> output = new ArrayList<>();
    private final List<StreamSpec> specs = new ArrayList<>();

    /// Answers by the number of the round; its first publisher does not wait, the others do.
    private final class FakeSystem implements MeasuredSystem {
        @Override
        public SourceReport publish(final StreamSpec spec, final Runnable gone) {
            specs.add(spec);
            if (specs.size() > 1) {
                gone.run();
            }
            return new SourceReport("fake", specs.size(), 2, 3, 4, 5, 6, 7, 8);
        }

        @Override
        public ReceiverReport subscribe(final StreamSpec spec) {
            specs.add(spec);
            if (specs.size() == 2) {
                throw new FramesDifferException("frame 1\nends as 2");
            }
            return new ReceiverReport(
                    specs.size(), 2, 3, 4, 5, 6, 7, "", 8, List.of(), new ReceiverReport.Footprint("", 0, 0));
        }
    }

    @Test
    void shouldPublishRoundAfterRoundUntilTheInputEnds() {
        final String round = "round " + Records.write(SPEC) + "\n";
        assertEquals(0, serve(true, round + "gone\n" + round + "gone\n" + round + "gone\n"));
        assertEquals(List.of(SPEC, SPEC, SPEC), specs);
        assertEquals(3, output.size());
        final SourceReport last =
                Records.read(SourceReport.class, output.getLast().substring("@report ".length()));
        assertEquals(3, last.frames());
    }

    @Test
    void shouldEndWithTheReasonWhenARoundFails() {
        final String round = "round " + Records.write(SPEC) + "\n";
        assertEquals(ParentLink.FRAMES_DIFFER, serve(false, round + round + round));
        assertEquals(2, specs.size());
        assertEquals("@difference frame 1 ends as 2", output.getLast());
    }

    @Test
    void shouldRefuseWhatItDoesNotUnderstand() {
        assertEquals(ParentLink.FAILED, serve(false, "run\n"));
        assertEquals(List.of("@failure java.lang.IllegalArgumentException: expected round or gone, got run"), output);
        output.clear();
        assertEquals(ParentLink.FAILED, serve(true, "round 1\n"));
        assertEquals(1, output.size());
    }

    private int serve(final boolean publishes, final String input) {
        return BenchRole.serve(
                new FakeSystem(), publishes, new ParentLink(new BufferedReader(new StringReader(input)), output::add));
    }
}
