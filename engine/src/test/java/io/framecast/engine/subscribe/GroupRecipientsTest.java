package io.framecast.engine.subscribe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.framecast.engine.libc.Linux;
import io.framecast.engine.memory.SharedWords;
import io.framecast.engine.session.EpochClock;
import io.framecast.reliability.flow.ClockOffset;
import io.framecast.reliability.group.FollowerTable;
import io.framecast.reliability.group.LeaderTable;
import io.framecast.reliability.group.SharedFrames;
import io.framecast.reliability.group.TableLayout;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.StreamInfo;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// The source's clock, as the members of a host group get it.
final class GroupRecipientsTest {
    private static final long AHEAD_NS = 3_600_000_000_000L;
    private static final StreamInfo STREAM =
            new StreamInfo(77, "test", 1024, 64, 10_000, 1000, new byte[] {1, 2}, new byte[] {3});

    @BeforeEach
    void requireLinux() {
        assumeTrue(Linux.isPresent(), () -> Linux.unavailable().orElse(""));
    }

    /// Relative to the clock that all processes of the host share: this process may have read another calendar.
    @Test
    void shouldGiveMembersTheSourcesClockByTheHosts() {
        final EpochClock own = EpochClock.ofProcess();
        try (SharedWords words = SharedWords.create(TableLayout.FULL.wordsBytes())) {
            final LeaderTable table = new LeaderTable(
                    words,
                    TableLayout.FULL,
                    new LeaderTable.Header(STREAM, 1 << 16, 1, 0, 4711, own.hostOffsetNs()),
                    Delivery.RELIABLE,
                    () -> true,
                    _ -> {});
            final GroupRecipients recipients =
                    new GroupRecipients(new SharedFrames(null, new NoGroup(), table, 0, 0, () -> 0));
            final FollowerTable member = new FollowerTable(words, TableLayout.FULL, 0, false);
            final ClockOffset clock = new ClockOffset(0);
            recipients.onClock(clock, 5);
            assertEquals(Long.MAX_VALUE, member.clockErrorNs(), "it is not known yet");
            final long t1 = clock.ask(0);
            clock.onAnswer(t1, t1 + AHEAD_NS + 2, t1 + AHEAD_NS + 2, 4);
            recipients.onClock(clock, 5);
            assertEquals(own.hostOffsetNs() + clock.offsetNs(), member.clockOffsetNs());
            assertEquals(AHEAD_NS, clock.offsetNs());
            assertEquals(clock.boundNs(5) + own.errorNs(), member.clockErrorNs());
        }
    }

    private static final class NoGroup implements SharedFrames.Group {
        @Override
        public boolean hasFollowers() {
            return false;
        }

        @Override
        public void retire() {
            // The words are the test's.
        }
    }
}
