package io.framecast.perf.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.ConfigException;
import io.framecast.perf.harness.BenchNet;
import io.framecast.perf.harness.Networks;
import io.framecast.perf.harness.ParsedOptions;
import io.framecast.perf.rivals.Protection;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class PlanOptionsTest {
    @Test
    void shouldMeasureThroughputWithAllRivalsWhenNothingElseIsSaid() {
        final BenchPlan plan = plan("throughput");
        assertEquals(5, plan.rounds());
        assertEquals(
                List.of(new BenchPlan.Part(
                        new BenchCase(BenchScenario.THROUGHPUT, BenchNet.LOOPBACK, 6_220_800, 1, 1500, 0, true, 0),
                        List.of(BenchSystem.framecast("auto"), BenchSystem.FLOOR, BenchSystem.AERON, BenchSystem.TCP))),
                plan.parts());
        assertTrue(plan.aboutSeconds() < 100, () -> plan.aboutSeconds() + " s");
    }

    @Test
    void shouldMeasureTwoAloneAndBesideEachKindOfBystanderWithOneSetOfProcesses() {
        final BenchPlan plan = plan("isolation");
        assertEquals(10, plan.parts().size());
        assertEquals(
                10,
                plan.parts().stream()
                        .map(part -> part.setting().bystander().text())
                        .distinct()
                        .count());
        assertEquals("", plan.parts().getFirst().setting().bystander().text());
        final BenchGroup group = plan.groups().getFirst();
        assertEquals(1, plan.groups().size());
        assertEquals(2, group.receiversMax());
        assertEquals(3, group.subscribersMax());
        assertEquals(4, group.warmUps(BenchSystem.framecast("auto")).size(), "no bystander is stopped to get warm");
    }

    @Test
    void shouldMeasureEveryCombinationOfLists() {
        final BenchPlan plan = plan(
                "sizes",
                "--frame-bytes",
                "64,1k,1M",
                "--mtu",
                "1500,9000",
                "--receivers",
                "1,3",
                "--transport",
                "udp,aeron",
                "--against",
                "none");
        assertEquals(12, plan.parts().size());
        assertTrue(plan.parts().stream().allMatch(part -> part.systems().size() == 2));
        assertEquals(
                List.of(64, 1024, 1 << 20),
                plan.parts().stream()
                        .map(part -> part.setting().frameBytes())
                        .distinct()
                        .sorted()
                        .toList());
    }

    @Test
    void shouldMeasureProtectedStreamsBesidePlainOnes() {
        final BenchPlan plan =
                plan("throughput", "--transport", "udp", "--security", "plain,auth", "--against", "none");
        assertEquals(
                List.of(BenchSystem.framecast("udp"), BenchSystem.framecast("udp", Protection.AUTH)),
                plan.parts().getFirst().systems());
        assertThrows(ConfigException.class, () -> plan("throughput", "--security", "none"));
    }

    @Test
    void shouldLeaveOutWithAReasonWhatCannotBeMeasuredWithLoss() {
        final BenchPlan plan = plan("loss", "--net", "loopback", "--loss", "0,0.01", "--against", "floor,tcp");
        assertEquals(3, plan.parts().get(0).systems().size());
        assertEquals(List.of(BenchSystem.framecast("auto")), plan.parts().get(1).systems());
        assertEquals(2, plan.skips().size(), plan.skips()::toString);
    }

    @Test
    void shouldAskWhatTheBarsAskWhenNothingElseIsSaid() {
        final BenchPlan loss = plan("loss");
        final BenchPlan scaling = plan("scaling");
        if (Networks.unavailable().isEmpty()) {
            // Each way of losing beside its own row without loss, by the same processes.
            assertEquals(4, loss.parts().size());
            assertEquals(2, loss.groups().size());
            assertEquals(BenchNet.BRIDGE, scaling.parts().getFirst().setting().net());
        } else {
            assertEquals(1, loss.groups().size());
            assertFalse(scaling.skips().isEmpty());
        }
        assertEquals(1, scaling.groups().size());
        assertEquals(3, scaling.groups().getFirst().receiversMax());
        assertEquals(5, plan("latency").times().seconds());
        assertEquals(
                1000,
                plan("latency", "--frame-bytes", "64")
                        .parts()
                        .getFirst()
                        .setting()
                        .framesPerSecond());
    }

    @Test
    void shouldKnowHowLongWarmUpsAre() {
        final BenchTimes times = plan("throughput", "--warm-up", "4").times();
        assertEquals(4, times.warmUpMaxSeconds(1));
        assertEquals(6, times.warmUpMaxSeconds(3));
        assertTrue(plan("throughput", "--warm-up", "4").aboutSeconds()
                < plan("throughput").aboutSeconds());
    }

    @Test
    void shouldHaveTimeForThreeRounds() {
        final BenchTimes usual = new BenchTimes(8, 0.4, 2).ofWarmUp();
        assertEquals(1, usual.leadSeconds() + usual.seconds(), 1e-9);
        final BenchTimes quick = new BenchTimes(0.6, 0.2, 0.5).ofWarmUp();
        assertEquals(0.2, quick.leadSeconds() + quick.seconds(), 1e-9);
    }

    @Test
    void shouldTakeLittleTimeWhenQuick() {
        assertTrue(plan("sizes", "--quick").aboutSeconds() < plan("sizes").aboutSeconds() / 3);
        assertFalse(plan("sizes", "--quick").parts().isEmpty());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "fly | SCENARIO: expected one of latency, throughput, scaling, loss, sizes, isolation, got fly",
                "sizes --frame-bytes 8 | --frame-bytes: expected 32 … 1073741824, got 8",
                "sizes --frame-bytes ten | --frame-bytes: expected a number of bytes, such as 6220800, 64k, 16m or 1g,"
                        + " got ten",
                "sizes --frame-bytes , | --frame-bytes: expected a list, got nothing",
                "latency --receivers 0 | --receivers: expected 1 … 64, got 0",
                "latency --mtu 100 | --mtu: expected 1280 … 65536, got 100",
                "latency --net moon | --net: expected loopback, veth or bridge, got moon",
                "latency --against ghost | --against: expected floor, aeron, tcp, got ghost",
                "latency --transport rdma | --transport: expected auto, udp, aeron, got rdma",
                "latency --offload maybe | --offload: expected on, off, got maybe",
                "latency --loss 0.9 | --loss: expected 0 … 0.5, got 0.9",
                "latency --loss much | --loss: expected a number, got much",
                "latency --rounds 0 | --rounds: expected 1 … 1000, got 0",
                "latency --seconds 0 | --seconds: expected 0.1 … 3600, got 0",
                "latency --warm-up 0 | --warm-up: expected 0.1 … 3600, got 0",
                "latency --rate -1 | --rate: expected 0 … 10000000, got -1",
            })
    void shouldNameOptionExpectationAndValueInOneLine(final String words, final String line) {
        assertEquals(
                line,
                assertThrows(ConfigException.class, () -> plan(words.split(" ", -1)))
                        .getMessage());
    }

    private static BenchPlan plan(final String... words) {
        return ParsedOptions.of(new PlanOptions(), words).plan();
    }
}
