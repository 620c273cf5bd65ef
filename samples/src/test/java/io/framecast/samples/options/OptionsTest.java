package io.framecast.samples.options;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/// Values become what their types say; each that is refused is named in one line.
final class OptionsTest {
    /// Options that commands share.
    private static final class Shared {
        @Option(names = "--rate")
        @Within(least = 1, most = 10)
        private @Nullable Double rate;
    }

    // Its fields are read by their annotations.
    @SuppressWarnings("UnusedVariable")
    private static final class Some {
        @Option(names = "--size")
        @Within(least = 1_024, most = 1 << 20, multipleOf = 1_024)
        private Size size = new Size(1_024);

        @Option(names = "--sizes")
        @Within(least = 8, most = 1 << 30, multipleOf = 8)
        private Sizes sizes = Sizes.of(64, 1 << 20);

        @Option(names = "--loss")
        @Within(most = 0.5)
        private Numbers loss = new Numbers(List.of(0.0));

        @Option(names = "--against")
        @OneOf(
                value = {"floor", "tcp"},
                orNone = true)
        private Words against = Words.of("floor");

        @Option(names = "--device")
        @OneOf(
                value = {"host", "emulated(:\\d{1,2})?", "cuda:\\d{1,2}"},
                expected = "host, emulated[:N] or cuda:N")
        private String device = "host";

        @Mixin
        private Shared shared = new Shared();
    }

    private static Some read(final String words) {
        final Some some = new Some();
        Options.check(Options.register(new CommandLine(some)).parseArgs(words.split(" ")));
        return some;
    }

    @Test
    void shouldReadSizesNumbersAndWords() {
        final Some some =
                read("--size 64k --sizes 1M,64,1M,,1g --loss 0,0.25 --against tcp --device cuda:3 --rate 2.5");
        assertEquals(64 << 10, some.size.bytes());
        assertEquals("1M,64,1M,,1g", some.sizes.toString());
        assertEquals(List.of(1L << 20, 64L, 1L << 30), some.sizes.values());
        assertEquals(List.of(0.0, 0.25), some.loss.values());
        assertEquals(List.of("tcp"), some.against.some());
        assertEquals(2.5, some.shared.rate);
        assertEquals(List.of(), read("--against none").against.some());
        assertEquals("64,1048576", read("--size 1k").sizes.toString());
    }

    @Test
    void shouldLeaveOtherMistakesToTheParser() {
        assertNull(Options.complaint(assertThrows(ParameterException.class, () -> read("--speed 1"))));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--size 5000 | --size: expected a multiple of 1024, got 5000",
                "--size 3g | --size: expected 1024 … 1048576, got 3221225472",
                "--size ten | --size: expected a number of bytes, such as 6220800, 64k, 16m or 1g, got ten",
                "--sizes 64,100 | --sizes: expected multiples of 8, got 100",
                "--sizes , | --sizes: expected a list, got nothing",
                "--loss much | --loss: expected a number, got much",
                "--loss 0.9 | --loss: expected 0 … 0.5, got 0.9",
                "--against none,tcp | --against: expected floor, tcp, got none",
                "--device cuda | --device: expected host, emulated[:N] or cuda:N, got cuda",
                "--device emulated:-1 | --device: expected host, emulated[:N] or cuda:N, got emulated:-1",
                "--rate 0.5 | --rate: expected 1 … 10, got 0.5",
            })
    void shouldNameOptionExpectationAndValueInOneLine(final String words, final String line) {
        assertEquals(line, Options.complaint(assertThrows(ParameterException.class, () -> read(words))));
    }
}
