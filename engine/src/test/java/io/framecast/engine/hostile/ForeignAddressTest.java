package io.framecast.engine.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Framecast;
import io.framecast.engine.publish.EnginePublisher;
import io.framecast.engine.publish.SourceSession;
import io.framecast.engine.testing.InvokedNodes;
import io.framecast.engine.testing.StreamFixture;
import io.framecast.reliability.wire.AdmitLayout;
import io.framecast.reliability.wire.CoRootOffer;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.JoinLayout;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.NackLayout;
import io.framecast.reliability.wire.ResumeLayout;
import io.framecast.reliability.wire.Wire;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// A publisher over `udp`, and a stranger that names its own address and that of another host, with sockets of
/// its own.
final class ForeignAddressTest {
    private static final long STRANGER = 77;
    private static final long SUCCESSOR = 78;
    private static final long SECRET = 5;
    private static final int CYCLES = 200;

    private final InvokedNodes nodes = new InvokedNodes();
    private final Framecast source = nodes.launch();
    private final MemorySegment datagram = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
    private SourceSession session;
    private DatagramChannel own;
    private DatagramChannel foreign;

    @BeforeEach
    void open() throws IOException {
        own = socket("127.0.0.1");
        foreign = socket("127.0.0.2");
        final EnginePublisher publisher = (EnginePublisher)
                source.publish(StreamFixture.channel("udp", "|mtu=1500|window=300k|frame-max=100000|device=host"));
        nodes.cycle();
        session = publisher.session();
    }

    @AfterEach
    void close() throws IOException {
        nodes.close();
        own.close();
        foreign.close();
    }

    private static DatagramChannel socket(final String host) throws IOException {
        final DatagramChannel made = DatagramChannel.open();
        made.bind(new InetSocketAddress(InetAddress.ofLiteral(host), 0));
        made.configureBlocking(false);
        return made;
    }

    // As lanes of `udp` name themselves.
    private static byte[] address(final DatagramChannel socket) throws IOException {
        final InetSocketAddress local = (InetSocketAddress) socket.getLocalAddress();
        return ByteBuffer.allocate(7)
                .put((byte) 4)
                .put(local.getAddress().getAddress())
                .putShort((short) local.getPort())
                .array();
    }

    private ControlWriter ids(final long receiver) {
        return new ControlWriter(session.stream().session()).receiver(receiver).in(datagram);
    }

    private void send(final int bytes) throws IOException {
        final ByteBuffer control = ByteBuffer.wrap(session.stream().controlAddress());
        final byte[] host = new byte[4];
        control.position(1).get(host);
        own.send(
                ByteBuffer.wrap(datagram.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE)),
                new InetSocketAddress(InetAddress.getByAddress(host), Short.toUnsignedInt(control.getShort())));
    }

    private static JoinLayout.Terms terms(final byte[] control, final byte[] repair) {
        return new JoinLayout.Terms(
                1 << 20, Delivery.LATEST, SECRET, new LaneAddresses(control, repair), CoRootOffer.NONE);
    }

    // The datagrams that come to a socket in a while.
    private List<MemorySegment> takeAll(final DatagramChannel socket) throws IOException {
        final List<MemorySegment> all = new ArrayList<>();
        final ByteBuffer buffer = ByteBuffer.allocate(2_000);
        for (int i = 0; i < CYCLES; i++) {
            nodes.cycle();
            while (socket.receive(buffer.clear()) != null) {
                final byte[] bytes = new byte[buffer.flip().remaining()];
                buffer.get(bytes);
                all.add(MemorySegment.ofArray(bytes));
            }
        }
        return all;
    }

    private static List<Integer> types(final List<MemorySegment> datagrams) {
        return datagrams.stream()
                .map(one -> ControlLayout.type(one, 0))
                .distinct()
                .toList();
    }

    private MemorySegment takeAdmit(final DatagramChannel socket) throws IOException {
        final List<MemorySegment> all = takeAll(socket);
        assertEquals(List.of(ControlLayout.TYPE_ADMIT), types(all));
        return all.getLast();
    }

    private void becomeMember() throws IOException {
        send(JoinLayout.write(ids(STRANGER), terms(address(own), address(own))));
        final MemorySegment admit = takeAdmit(own);
        send(AdmitLayout.writeReady(
                ids(STRANGER), AdmitLayout.TOKEN.get(admit, 0), AdmitLayout.VALUE.get(admit, 0), 100));
        assertTrue(types(takeAll(own)).contains(ControlLayout.TYPE_START));
        assertEquals(1, session.machine().readyMembers());
    }

    @Test
    void shouldRefuseWhoNamesTheRepairAddressOfAnotherHost() throws IOException {
        send(JoinLayout.write(ids(STRANGER), terms(address(own), address(foreign))));
        nodes.until(
                () -> nodes.notices().stream()
                        .anyMatch(line -> line.contains("was refused: the addresses that it names")),
                "notice");
        assertEquals(List.of(), takeAll(foreign));
        assertEquals(List.of(), takeAll(own));
    }

    @Test
    void shouldSendAdmitAloneToAnotherHost() throws IOException {
        send(JoinLayout.write(ids(STRANGER), terms(address(foreign), address(foreign))));
        final MemorySegment admit = takeAdmit(foreign);
        // The token is in the probe, which all hear.
        send(AdmitLayout.writeReady(ids(STRANGER), AdmitLayout.TOKEN.get(admit, 0), 0, 100));
        NackLayout.range(datagram, false, 0, 0, 100);
        send(NackLayout.write(ids(STRANGER), 1));
        assertEquals(List.of(), takeAll(foreign));
        assertEquals(0, session.machine().readyMembers());
    }

    @Test
    void shouldSendAdmitAloneToWhereAMemberMoves() throws IOException {
        becomeMember();
        send(ResumeLayout.write(ids(SUCCESSOR), 0, terms(address(foreign), address(foreign))));
        takeAdmit(foreign);
        NackLayout.range(datagram, false, 0, 0, 100);
        send(NackLayout.write(ids(SUCCESSOR), 1));
        assertEquals(List.of(), takeAll(foreign));
    }
}
