package io.framecast.engine.publish;

import io.framecast.api.Channel;
import io.framecast.api.MemberStats;
import io.framecast.api.spi.Transport;
import io.framecast.engine.memory.RollbackOnFailure;
import io.framecast.engine.session.CounterBoard;
import io.framecast.engine.session.Policies;
import io.framecast.engine.session.SendMemory;
import io.framecast.engine.session.SessionContext;
import io.framecast.reliability.send.CoRootConfig;
import io.framecast.reliability.send.SenderMachine;
import io.framecast.reliability.session.SendSession;
import io.framecast.reliability.window.FrameWriter;
import io.framecast.reliability.window.SendWindow;
import io.framecast.reliability.wire.StreamInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.agrona.CloseHelper;

/// The parts of a source, in the order in which they open. [SourceSession] runs them, and [EnginePublisher] fills
/// the window.
///
/// Owns its parts, and the transport once it is open. [#closeLanes] comes first, then [#close].
///
/// @param session the protocol over the lanes
/// @param readers of the window, beside the network
/// @param writer the publisher's
/// @param status for the publisher's thread
/// @param members as their operator sees them
/// @param gatherRefusal why no frame is sent from device memory; empty where frames may be
record SourceParts(
        SourceLanes lanes,
        SendSession session,
        PublisherProtection protection,
        WindowReaders readers,
        FrameWriter writer,
        SourceStatus status,
        CounterBoard counters,
        PublisherNotices notices,
        MemberCounters members,
        String gatherRefusal)
        implements AutoCloseable {
    /// Opens all parts. Where one cannot be opened, it closes those before it, and the transport is still the
    /// caller's.
    ///
    /// @param secrets gives the session's nonce, and what proves its members' addresses
    static SourceParts open(
            final Transport transport,
            final Channel channel,
            final SessionContext context,
            final WindowSharing sharing,
            final RandomGenerator secrets) {
        try (RollbackOnFailure opened = new RollbackOnFailure()) {
            final SourceLanes lanes = opened.add(new SourceLanes(transport, channel, context, sharing));
            opened.add(lanes::closeLanes);
            final SendSession session = lanes.session(channel, context, secrets);
            final SenderMachine machine = session.machine();
            final PublisherProtection protection =
                    opened.add(PublisherProtection.of(channel.link().security(), lanes, session, context));
            // Before the first heartbeat: who hears a source knows whether it can read the window instead.
            final WindowReaders readers = opened.add(sharing.readers(channel, protection, lanes, session, context));
            final SourceStatus status = new SourceStatus(session.window(), readers);
            final SourceParts parts = new SourceParts(
                    lanes,
                    session,
                    protection,
                    readers,
                    new FrameWriter(session.window(), readers.frames()),
                    status,
                    opened.add(SourceCounters.of(
                            channel, lanes, session, protection, context.counters(), status::readyMembers)),
                    new PublisherNotices(channel, session.stream(), machine, lanes, context.notices()),
                    new MemberCounters(
                            machine, context.counters(), lanes::describe, context.notices(), protection::onEvicted),
                    gatherRefusal(channel, lanes, protection, readers));
            opened.keep();
            return parts;
        }
    }

    private static String gatherRefusal(
            final Channel channel,
            final SourceLanes lanes,
            final PublisherProtection protection,
            final WindowReaders readers) {
        final boolean feeds = Policies.onWire(channel.stream().coRoots()).feed() == CoRootConfig.Feed.UNICAST;
        return Stream.of(
                        lanes.gatherRefusal(),
                        protection.gatherRefusal(),
                        readers.gatherRefusal(),
                        feeds ? "feed=unicast writes the window to co-roots" : "")
                .filter(why -> !why.isEmpty())
                .findFirst()
                .orElse("");
    }

    /// In messages: `publisher of x`.
    String name() {
        return "publisher of " + stream().channel();
    }

    StreamInfo stream() {
        return session.stream();
    }

    SendWindow window() {
        return session.window();
    }

    SenderMachine machine() {
        return session.machine();
    }

    SendMemory memory() {
        return lanes.memory();
    }

    /// The transport; it may register memory from any thread.
    Transport transport() {
        return lanes.transport();
    }

    /// Any thread: members, and subscribers on this host that read the window.
    List<MemberStats> memberStats() {
        final List<MemberStats> all = new ArrayList<>(readers.stats());
        all.addAll(members.members());
        return all;
    }

    /// Sender: closes all but the memory. From then on nothing reads the window, nor what is sent from elsewhere.
    ///
    /// @param goodbye the last that the lanes send
    void closeLanes(final AutoCloseable goodbye) {
        readers.stop();
        CloseHelper.closeAll(goodbye, readers, members, counters, lanes::closeLanes, transport(), protection);
    }

    /// Frees the memory.
    @Override
    public void close() {
        lanes.close();
    }
}
