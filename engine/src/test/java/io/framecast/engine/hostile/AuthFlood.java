package io.framecast.engine.hostile;

import io.framecast.api.spi.LaneKind;
import io.framecast.engine.testing.SentDatagrams;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.DatagramChannel;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// One without a key that hears a stream and sends to all of its ports, from a socket of its own: noise, headers
/// under a right checksum, what it heard, heard headers with other payloads, plain control datagrams of every
/// type, and handshakes. One thread.
final class AuthFlood implements AutoCloseable {
    // Handshakes alone come in bursts.
    private static final int BURST_MAX = 500;
    private static final int BURST_EVERY = 2_000;
    private static final int CONTROL_BYTES_MAX = 1200;
    private static final int CONTROL_HEADER = 40;
    private static final int CONTROL_KIND = 0x23;
    private static final int TYPES_END = 28;
    private static final int SESSION = 8;
    private static final int RECEIVER = 16;
    private static final int FLAGS = 28;
    private static final int TAG_BYTES = 29;
    private static final int KEY_EPOCH = 30;
    private static final int COUNTER = 32;
    private static final int HEARTBEAT = 1;
    private static final int HEARTBEAT_ADDRESS = 120;
    private static final int HEARTBEAT_BYTES = 260;
    private static final int HELLO = 20;
    private static final int COOKIE = 21;
    private static final int PROOF = 22;
    private static final int ANSWER = 23;
    private static final int KEY_ID = 104;
    private static final int ADDRESS = 169;
    private static final int CONTENT_END = 202;
    private static final int PROOF_BYTES = 266;
    private static final int DATA_HEADER = 40;
    private static final int SEALED_HEADER = 64;
    private static final int DATA_SEQUENCE = 16;
    private static final int DATA_FRAME_BYTES = 32;

    private final DatagramChannel socket;
    private final byte[] own;
    private final Random random;
    private final SentDatagrams source;
    private final SentDatagrams sink;
    private final boolean isProtected;
    private final ByteBuffer incoming =
            ByteBuffer.allocate(2 * CONTROL_BYTES_MAX).order(ByteOrder.LITTLE_ENDIAN);
    // The last HELLO, and the cookie that came for one.
    private byte[] hello = new byte[CONTROL_BYTES_MAX];
    private byte @Nullable [] proof;
    private int burst;
    private long cookies;
    private long hellosHeard;

    AuthFlood(final SentDatagrams source, final SentDatagrams sink, final boolean isProtected, final long seed)
            throws IOException {
        this.source = source;
        this.sink = sink;
        this.isProtected = isProtected;
        random = new Random(seed);
        socket = DatagramChannel.open(StandardProtocolFamily.INET);
        socket.configureBlocking(false);
        socket.bind(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0));
        socket.setOption(
                StandardSocketOptions.IP_MULTICAST_IF,
                NetworkInterface.getByInetAddress(InetAddress.ofLiteral("127.0.0.1")));
        own = address("127.0.0.1", ((InetSocketAddress) socket.getLocalAddress()).getPort());
    }

    /// Cookies that the source sent for its HELLOs.
    long cookies() {
        return cookies;
    }

    /// HELLOs of receivers that believed a forged heartbeat so far.
    long hellosHeard() {
        return hellosHeard;
    }

    /// Sends one to a port.
    ///
    /// @return false where it was not sent
    boolean send(final LaneKind kind, final InetSocketAddress to) throws IOException {
        hear();
        final byte[] datagram = kind == LaneKind.CONTROL ? control() : data(kind);
        return datagram.length > 0 && socket.send(ByteBuffer.wrap(datagram), to) > 0;
    }

    private void hear() throws IOException {
        incoming.clear();
        while (socket.receive(incoming) != null) {
            incoming.flip();
            if (incoming.limit() >= CONTROL_HEADER + 32 && incoming.get(1) == COOKIE) {
                cookies++;
                final byte[] made = new byte[PROOF_BYTES];
                System.arraycopy(hello, 0, made, 0, CONTENT_END);
                incoming.get(CONTROL_HEADER, made, CONTENT_END, 32);
                proof = made;
            } else if (incoming.limit() == CONTROL_BYTES_MAX && incoming.get(1) == HELLO) {
                hellosHeard++;
            }
            incoming.clear();
        }
    }

    private byte[] control() {
        burst = burst > 0 ? burst - 1 : random.nextInt(BURST_EVERY) == 0 ? BURST_MAX : 0;
        final int choice = !isProtected ? random.nextInt(2) : burst > 0 ? 5 + random.nextInt(2) : random.nextInt(8);
        return switch (choice) {
            case 0 -> noise(CONTROL_BYTES_MAX + 100);
            case 1 -> replay(LaneKind.CONTROL);
            case 2 -> sealedHeader();
            case 3 -> plain();
            case 4 -> altered();
            case 5 -> hello();
            case 6 -> proof();
            default -> random.nextBoolean() ? heartbeat() : answer();
        };
    }

    private byte[] data(final LaneKind kind) {
        return switch (random.nextInt(isProtected ? 6 : 3)) {
            case 0 -> noise(2_000);
            case 1 -> replay(kind);
            case 2 -> replay(kind == LaneKind.DATA ? LaneKind.REPAIR : LaneKind.DATA);
            case 3 -> forgedData(SEALED_HEADER);
            case 4 -> otherPayload();
            default -> forgedData(DATA_HEADER);
        };
    }

    // A header that was heard, with its tag, and other payload. A receiver that lost the datagram must not take it.
    private byte[] otherPayload() {
        final List<byte[]> latest = source.latest(LaneKind.DATA);
        final byte[] heard = latest.isEmpty() ? new byte[0] : latest.get(random.nextInt(latest.size()));
        randomise(heard, Math.min(heard.length, SEALED_HEADER));
        return heard.length > SEALED_HEADER ? heard : new byte[0];
    }

    private byte[] noise(final int bytesMax) {
        final byte[] noise = new byte[1 + random.nextInt(bytesMax)];
        random.nextBytes(noise);
        return noise;
    }

    private byte[] heard(final LaneKind kind) {
        final List<byte[]> heard = (random.nextBoolean() ? source : sink).sent(kind);
        return heard.isEmpty()
                ? new byte[0]
                : heard.get(random.nextInt(heard.size())).clone();
    }

    // Without a protection a control datagram of any time is as good as new: what only heartbeats say is harmless.
    private byte[] replay(final LaneKind kind) {
        final byte[] heard = heard(kind);
        return isProtected || kind != LaneKind.CONTROL || (heard.length > 1 && heard[1] == HEARTBEAT)
                ? heard
                : new byte[0];
    }

    private static ByteBuffer view(final byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    // A header with session and receiver of the stream's own datagrams.
    private byte[] begin(final int type, final int bytes) {
        final byte[] made = new byte[bytes];
        final byte[] heard = heard(LaneKind.CONTROL);
        if (heard.length >= CONTROL_HEADER) {
            System.arraycopy(heard, 0, made, 0, Math.min(CONTROL_HEADER, bytes));
        }
        made[0] = CONTROL_KIND;
        made[1] = (byte) type;
        made[TAG_BYTES] = 0;
        return made;
    }

    private static byte[] complete(final byte[] datagram) {
        final ByteBuffer view = view(datagram);
        view.putShort(2, (short) datagram.length);
        view.putInt(4, 0);
        view.putInt(4, crc(datagram, datagram.length));
        return datagram;
    }

    private static int crc(final byte[] bytes, final int length) {
        final CRC32C crc = new CRC32C();
        crc.update(bytes, 0, length);
        return (int) crc.getValue();
    }

    private void randomise(final byte[] bytes, final int from) {
        for (int i = from; i < bytes.length; i++) {
            bytes[i] = (byte) random.nextInt();
        }
    }

    // Fields are right and the tag is none: of the pair, of the group, of another member, of any counter.
    private byte[] sealedHeader() {
        final boolean ofMember = random.nextInt(3) == 0;
        final int trailer = ofMember ? 24 : 16;
        final byte[] made =
                begin(random.nextInt(TYPES_END), CONTROL_HEADER + trailer + random.nextInt(CONTROL_BYTES_MAX - 200));
        randomise(made, CONTROL_HEADER);
        final ByteBuffer view = view(made);
        made[TAG_BYTES] = (byte) trailer;
        if (random.nextBoolean()) {
            view.putLong(COUNTER, random.nextLong());
        } else {
            view.putLong(COUNTER, view.getLong(COUNTER) + random.nextInt(100));
        }
        switch (random.nextInt(4)) {
            case 0 -> view.putLong(RECEIVER, 0);
            case 1 -> view.putLong(RECEIVER, random.nextLong());
            case 2 -> view.putLong(SESSION, random.nextLong());
            default -> view.putShort(KEY_EPOCH, (short) random.nextInt(4));
        }
        return complete(made);
    }

    private byte[] plain() {
        final byte[] made = begin(random.nextInt(TYPES_END), CONTROL_HEADER + random.nextInt(300));
        if (random.nextBoolean()) {
            randomise(made, CONTROL_HEADER);
        }
        view(made).putShort(KEY_EPOCH, (short) 0);
        view(made).putLong(COUNTER, random.nextLong());
        return complete(made);
    }

    // One that was heard, with a few bits changed, under a right checksum.
    private byte[] altered() {
        final byte[] heard = heard(LaneKind.CONTROL);
        if (heard.length < CONTROL_HEADER) {
            return new byte[0];
        }
        for (int i = 0; i <= random.nextInt(3); i++) {
            heard[FLAGS + random.nextInt(heard.length - FLAGS)] ^= (byte) (1 << random.nextInt(8));
        }
        return complete(heard);
    }

    private static byte[] address(final String host, final int port) {
        final byte[] address = new byte[7];
        address[0] = 4;
        System.arraycopy(InetAddress.ofLiteral(host).getAddress(), 0, address, 1, 4);
        address[5] = (byte) (port >>> 8);
        address[6] = (byte) port;
        return address;
    }

    // Its own most often, then those to which nothing should be sent, and such as are none.
    private byte[] anyAddress() {
        return switch (random.nextInt(12)) {
            case 0 -> address("127.0.0.1", 0);
            case 1 -> address("0.0.0.0", 9);
            case 2 -> address("255.255.255.255", 9);
            case 3 -> address("224.0.0.1", 9);
            case 4 -> address("203.0.113." + random.nextInt(256), 1 + random.nextInt(65_535));
            case 5 -> address("127.0.0." + random.nextInt(256), 1 + random.nextInt(65_535));
            case 6 -> new byte[] {(byte) random.nextInt()};
            case 7 -> {
                final byte[] long6 = new byte[19];
                random.nextBytes(long6);
                long6[0] = 6;
                yield long6;
            }
            default -> own;
        };
    }

    private byte[] hello() {
        final byte[] made = begin(HELLO, CONTROL_BYTES_MAX);
        final ByteBuffer view = view(made);
        view.putLong(RECEIVER, (long) random.nextInt() << 32);
        final byte[] ids = new byte[64];
        random.nextBytes(ids);
        System.arraycopy(ids, 0, made, CONTROL_HEADER, 64);
        final byte[] id = (random.nextBoolean() ? "one" : "two").getBytes(StandardCharsets.US_ASCII);
        made[KEY_ID] = (byte) id.length;
        System.arraycopy(id, 0, made, KEY_ID + 1, id.length);
        final byte[] address = anyAddress();
        made[ADDRESS] = (byte) address.length;
        System.arraycopy(address, 0, made, ADDRESS + 1, address.length);
        if (random.nextInt(20) == 0) {
            randomise(made, KEY_ID);
        }
        complete(made);
        if (address == own) {
            hello = made.clone();
        }
        return made;
    }

    // With a cookie that the source gave, where there is one, and a tag that is wrong.
    private byte[] proof() {
        final byte[] known = proof;
        if (known == null || random.nextInt(4) == 0) {
            final byte[] made = java.util.Arrays.copyOf(hello(), PROOF_BYTES);
            made[1] = PROOF;
            randomise(made, CONTENT_END);
            return complete(made);
        }
        final byte[] made = known.clone();
        made[1] = PROOF;
        randomise(made, CONTENT_END + 32);
        return complete(made);
    }

    // COOKIE and ANSWER to a receiver.
    private byte[] answer() {
        final boolean isCookie = random.nextBoolean();
        final byte[] made = begin(isCookie ? COOKIE : ANSWER, isCookie ? CONTROL_HEADER + 32 : 296);
        randomise(made, CONTROL_HEADER);
        view(made).putInt(RECEIVER, 0);
        return complete(made);
    }

    // Of a session that is not there: the receiver asks at the address that it names.
    private byte[] heartbeat() {
        final byte[] made = begin(HEARTBEAT, HEARTBEAT_BYTES);
        final ByteBuffer view = view(made);
        view.putLong(SESSION, random.nextLong());
        view.putLong(RECEIVER, 0);
        made[TAG_BYTES] = 16;
        view.putShort(KEY_EPOCH, (short) 1);
        randomise(made, CONTROL_HEADER);
        final byte[] address = anyAddress();
        java.util.Arrays.fill(made, HEARTBEAT_ADDRESS, HEARTBEAT_ADDRESS + 33, (byte) 0);
        made[HEARTBEAT_ADDRESS] = (byte) address.length;
        System.arraycopy(address, 0, made, HEARTBEAT_ADDRESS + 1, address.length);
        return complete(made);
    }

    // A header of the stream with another number, and the checksum that an attacker who hears the nonce can make.
    private byte[] forgedData(final int headerBytes) {
        final byte[] heard = heard(LaneKind.DATA);
        final byte[] nonce = heard(LaneKind.CONTROL);
        if (heard.length < SEALED_HEADER + Integer.BYTES || nonce.length < CONTROL_HEADER) {
            return new byte[0];
        }
        final byte[] made = headerBytes == SEALED_HEADER ? heard : java.util.Arrays.copyOf(heard, heard.length - 24);
        final ByteBuffer view = view(made);
        switch (random.nextInt(4)) {
            case 0 -> view.putLong(DATA_SEQUENCE, view.getLong(DATA_SEQUENCE) + 1 + random.nextInt(100));
            case 1 -> view.putInt(DATA_FRAME_BYTES, random.nextInt());
            case 2 -> view.putInt(SEALED_HEADER - 24, random.nextInt());
            default -> view.putLong(DATA_SEQUENCE, random.nextLong());
        }
        view.putInt(4, (int) (view(nonce).getLong(SESSION) >>> 32));
        view.putInt(4, crc(made, DATA_HEADER));
        return made;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
