package io.framecast.engine.subscribe;

import io.framecast.engine.session.DisconnectReason;
import io.framecast.engine.session.SessionContext;
import io.framecast.engine.subscribe.protect.Strangers;
import io.framecast.reliability.flow.Interval;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/// The lines that a subscription writes about the sources that it hears. A cause that lasts is written again
/// after a while, or when it has grown: a faulty source must not fill the log.
///
/// The receiver's thread.
final class SourceNotices implements Strangers {
    // A source of another version sends heartbeats for as long as it runs.
    private static final long AGAIN_NS = 60_000_000_000L;

    private final EngineSubscriber subscriber;
    private final Consumer<String> notices;
    private final HeaderChecksum checksum = new HeaderChecksum();
    private final Interval versions = new Interval(AGAIN_NS);
    private final Interval strangers = new Interval(AGAIN_NS);
    private final Interval standstills = new Interval(SessionContext.STANDSTILL_NOTICE_NS);
    private long damagedReported;
    private String declined = "";

    /// @param subscriber hears of strangers, for it may wait for them
    /// @param notices takes the lines
    SourceNotices(final EngineSubscriber subscriber, final Consumer<String> notices) {
        this.subscriber = subscriber;
        this.notices = notices;
    }

    /// The subscriber, as lines name it.
    String name() {
        return "subscriber of " + subscriber.channel().name();
    }

    /// Writes a line of its own.
    void accept(final String line) {
        notices.accept(name() + ": " + line);
    }

    /// A control datagram of no session did not pass the checks: its source may speak another version, or be
    /// for members with a key.
    void onMalformed(final MemorySegment datagram, final long offset, final int bytes, final long nowNs) {
        final int version = versions.isDue(nowNs) ? ControlLayout.otherVersion(datagram, offset, bytes, checksum) : 0;
        if (version != 0) {
            versions.begin(nowNs);
            accept("a source there speaks version " + version + " of the protocol, this subscriber version "
                    + Wire.VERSION + ": run the same version of framecast on both hosts");
        }
        if (isStrangerDue(nowNs) && ControlLayout.isSealed(datagram, offset, bytes)) {
            onStranger("a source there is for members with a key alone: give auth= (SECURITY.md)", nowNs);
        }
    }

    @Override
    public boolean isStrangerDue(final long nowNs) {
        return strangers.isDue(nowNs);
    }

    @Override
    public void onStranger(final String reason, final long nowNs) {
        strangers.begin(nowNs);
        subscriber.onAlone(reason);
        accept(reason);
    }

    /// This process stood still while a session ran.
    void onStandstill(final long stoodNs, final long nowNs) {
        if (standstills.isDue(nowNs)) {
            standstills.begin(nowNs);
            accept(DisconnectReason.standstill(stoodNs / 1_000_000) + "; asking its source");
        }
    }

    /// The subscription declined a source.
    void onDeclined(final String reason) {
        if (!declined.equals(reason)) {
            declined = reason;
            accept(reason);
        }
    }

    /// @param frames small frames dropped so far because the table of their datagram was damaged
    void onDamaged(final long frames) {
        if (frames > 2 * damagedReported) {
            accept(frames
                    + " small frame(s) dropped, the table of their datagram is damaged; look at the network,"
                    + " or at the source");
            damagedReported = frames;
        }
    }
}
