package io.framecast.gpu.sharing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.framecast.testing.TestJvm;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// The contract of every [DeviceSharing], with processes that only share memory of a device. Two and more are started
/// for each test; content is read back in one process and compared with another's.
abstract class DeviceSharingContract {
    private static final int BYTES = 3 << 20;

    private final List<Member> members = new ArrayList<>();

    /// Kind and ordinal of the device.
    abstract List<String> device();

    /// Variables of the processes' environment.
    Map<String, String> environment() {
        return Map.of();
    }

    /// One process.
    private static final class Member implements AutoCloseable {
        private final Process process;
        private final PrintStream words;
        private final BufferedReader answers;

        Member(final Process process) {
            this.process = process;
            words = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
            answers = process.inputReader(StandardCharsets.UTF_8);
        }

        String ask(final String line) {
            words.println(line);
            try {
                final String answer = answers.readLine();
                assertTrue(answer != null, () -> line + ": the process has ended");
                return answer;
            } catch (final IOException e) {
                return fail(e);
            }
        }

        /// @return the answer, without `ok`
        String does(final String line) {
            final String answer = ask(line);
            assertTrue(answer.startsWith("ok"), () -> line + ": " + answer);
            return answer.substring(2).strip();
        }

        void refuses(final String line) {
            final String answer = ask(line);
            assertTrue(answer.startsWith("no ") && answer.length() > 10, () -> line + ": " + answer);
        }

        void kill() throws InterruptedException {
            process.destroyForcibly();
            process.waitFor();
        }

        @Override
        public void close() {
            process.destroyForcibly();
        }
    }

    private Member start() throws IOException {
        final List<String> command = TestJvm.command(SharingProcess.class);
        command.addAll(device());
        final ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().putAll(environment());
        final Member made = new Member(builder.start());
        members.add(made);
        return made;
    }

    @AfterEach
    final void endAll() {
        members.forEach(Member::close);
    }

    @Test
    final void shouldShowTheSameBytesInEveryProcess() throws IOException {
        final Member owner = start();
        final Member reader = start();
        final Member other = start();
        assertEquals("", owner.does("refusal"));
        final String handle = owner.does("share " + BYTES);
        reader.does("open " + handle);
        other.does("open " + handle);
        final List<String> sums = new ArrayList<>();
        for (int round = 0; round < 3; round++) {
            owner.does("write " + round);
            sums.add(reader.does("read"));
            assertEquals(sums.getLast(), reader.does("copy"), "copied within the device");
            assertEquals(sums.getLast(), other.does("read"));
        }
        assertNotEquals(sums.get(0), sums.get(1));
        assertNotEquals(sums.get(1), sums.get(2));
        owner.does("open " + handle);
        assertEquals(sums.getLast(), owner.does("read"), "its own, by its handle");
    }

    @Test
    final void shouldCountWhatIsOpenAndLeaveNothing() throws IOException {
        final Member owner = start();
        final Member reader = start();
        final String none = reader.does("resources");
        final String handle = owner.does("share " + BYTES);
        reader.does("open " + handle);
        assertTrue(reader.does("resources").contains("1 imports"), reader.does("resources"));
        reader.refuses("outside");
        reader.does("close");
        assertEquals(none, reader.does("resources"));
        reader.refuses("close");
        owner.does("open " + handle);
        owner.does("close");
        owner.does("free");
        assertEquals(none, owner.does("resources"));
    }

    @Test
    final void shouldOpenAgainWhatAnotherHasClosed() throws IOException {
        final Member owner = start();
        final Member reader = start();
        final String handle = owner.does("share " + BYTES);
        owner.does("write 5");
        reader.does("open " + handle);
        final String sum = reader.does("read");
        reader.does("close");
        reader.does("open " + handle);
        assertEquals(sum, reader.does("read"));
        reader.does("close");
        owner.does("free");
        reader.refuses("open " + handle);
    }

    @Test
    final void shouldRefuseHandlesOfTheDeadAndOfNobody() throws IOException, InterruptedException {
        final Member owner = start();
        final Member reader = start();
        final String handle = owner.does("share " + BYTES);
        owner.kill();
        reader.refuses("open " + handle);
        final String device = reader.does("identity");
        reader.refuses("open " + device + " 4096 1/2/3");
        reader.refuses("open " + device + " 4096 " + "0f".repeat(64));
        reader.refuses("open " + device + " 4096 nonsense");
    }

    @Test
    final void shouldNameTheDeviceAlikeInEveryProcessAndReachItself() throws IOException {
        final Member one = start();
        final Member two = start();
        final String device = one.does("identity");
        assertEquals(device, two.does("identity"));
        assertEquals("", two.does("reach " + device));
        assertFalse(two.does("reach " + new UUID(1, 2)).isEmpty());
    }
}
