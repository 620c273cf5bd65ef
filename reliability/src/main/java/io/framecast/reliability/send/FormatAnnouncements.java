package io.framecast.reliability.send;

import io.framecast.reliability.window.SendFormats;
import io.framecast.reliability.window.StreamFormat;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.FormatLayout;
import io.framecast.reliability.wire.Verdict;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Announces the formats of a source's frames: to all by multicast when a format is new, to each member that has
/// not acknowledged it again and again, and to a member that asks. A frame waits for its format at the receiver.
///
/// A new member knows none: START says which announcements are too old for it.
///
/// One thread.
final class FormatAnnouncements {
    private static final StreamFormat[] NONE = {};
    private static final long REPEAT_NS = 20_000_000;
    private static final int REPEAT_DOUBLINGS_MAX = 4;
    // A member that does not acknowledge for so long asks when it needs it.
    private static final int TRIES_MAX = 20;

    private final SendFormats formats;
    private final MemberTable members;
    private final SenderOutput output;
    private final Counts<SenderCount> counts;
    private final ControlWriter ids;
    private final @Nullable StreamFormat[] known = new StreamFormat[FormatLayout.NUMBERS + 1];
    private StreamFormat[] seen = NONE;
    // Whether one of them begins behind the committed datagrams.
    private boolean isAhead;
    // Formats that are still to be multicast, a bit for each number.
    private int unsaid;

    FormatAnnouncements(
            final SendFormats formats,
            final MemberTable members,
            final SenderOutput output,
            final Counts<SenderCount> counts,
            final ControlWriter ids) {
        this.formats = formats;
        this.members = members;
        this.output = output;
        this.counts = counts;
        this.ids = ids.another();
    }

    /// Looks for new formats. [#announce] follows before the committed datagrams are sent.
    ///
    /// @param committed read before
    /// @return whether there were any
    boolean look(final long committed, final long nowNs) {
        final StreamFormat[] all = formats.announced();
        if (all == seen && !isAhead) {
            return false;
        }
        seen = all;
        isAhead = false;
        boolean found = false;
        for (final StreamFormat format : all) {
            if (format.firstSequence() >= committed) {
                isAhead = true;
            } else if (!format.equals(known[format.number()])) {
                known[format.number()] = format;
                expect(format, nowNs);
                found = true;
            }
        }
        return found;
    }

    private void expect(final StreamFormat format, final long nowNs) {
        unsaid |= 1 << format.number();
        for (int m = 0; m < members.capacity(); m++) {
            if (members.of(m).isActive()) {
                final Member member = members.of(m);
                // Where formats change often, earlier formats are repeated nevertheless.
                final long nextNs = nowNs + REPEAT_NS;
                await(
                        member,
                        member.formats.unknown | 1 << format.number(),
                        member.formats.unknown == 0 ? nextNs : Math.min(nextNs, member.formats.dueNs));
            }
        }
    }

    /// Sends new formats to all members.
    void announce() {
        for (int number = 1; unsaid != 0; unsaid &= ~(1 << number++)) {
            final StreamFormat format = known[number];
            if (format != null && (unsaid & 1 << number) != 0 && members.active() > 0) {
                ids.receiver(0);
                output.multicastControl(write(format));
                counts.add(SenderCount.FORMATS);
            }
        }
    }

    private static void await(final Member member, final int unknown, final long nextNs) {
        member.formats.unknown = unknown;
        member.formats.dueNs = nextNs;
        member.formats.tries = 0;
    }

    private int write(final StreamFormat format) {
        return FormatLayout.write(
                ids.in(output.control()), format.firstSequence(), format.serial(), format.number(), format.bytes());
    }

    /// A receiver became a member, or another one took its place: it knows no format.
    void onActivated(final int member, final long nowNs) {
        int all = 0;
        for (final StreamFormat format : seen) {
            all |= format.equals(known[format.number()]) ? 1 << format.number() : 0;
        }
        await(members.of(member), all, nowNs);
        onTick(member, nowNs);
    }

    /// Repeats formats that a member has not acknowledged.
    ///
    /// @return datagrams sent
    int onTick(final int member, final long nowNs) {
        final Member place = members.of(member);
        if (place.formats.unknown == 0 || nowNs < place.formats.dueNs) {
            return 0;
        }
        if (place.formats.tries == TRIES_MAX) {
            place.formats.unknown = 0;
            return 0;
        }
        place.formats.dueNs = nowNs + (REPEAT_NS << Math.min(place.formats.tries++, REPEAT_DOUBLINGS_MAX));
        int sent = 0;
        for (int number = 1; number <= FormatLayout.NUMBERS; number++) {
            sent += (place.formats.unknown & 1 << number) == 0 ? 0 : send(member, number);
        }
        return sent;
    }

    private int send(final int member, final int number) {
        final StreamFormat format = known[number];
        if (format == null) {
            return 0;
        }
        ids.receiver(members.of(member).id);
        output.sendControl(member, write(format));
        counts.add(SenderCount.FORMATS);
        return 1;
    }

    /// A member acknowledges a format, or asks for one.
    Verdict onAck(final int member, final MemorySegment datagram, final long offset) {
        if (!FormatLayout.isValidAck(datagram, offset)) {
            return Verdict.IMPOSSIBLE;
        }
        final int wanted = FormatLayout.WANTED_NUMBER.get(datagram, offset);
        if (wanted != 0) {
            return send(member, wanted) == 1 ? Verdict.GOOD : Verdict.IMPOSSIBLE;
        }
        final int serial = FormatLayout.KNOWN_SERIAL.get(datagram, offset);
        for (final StreamFormat format : seen) {
            if (format.serial() == serial) {
                members.of(member).formats.unknown &= ~(1 << format.number());
            }
        }
        return Verdict.GOOD;
    }

    /// Serial of the newest format that was announced; 0 where there is none.
    int newest() {
        int newest = 0;
        for (final StreamFormat format : known) {
            newest = Math.max(newest, format == null ? 0 : format.serial());
        }
        return newest;
    }
}
