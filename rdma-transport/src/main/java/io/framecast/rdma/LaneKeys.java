package io.framecast.rdma;

import io.framecast.api.HostPort;
import io.framecast.api.spi.LaneKind;
import java.security.SecureRandom;
import java.util.Arrays;

/// Queue keys: they separate the lanes of a channel, and the data of its sources, on one multicast group. Datagrams
/// have no ports; a device drops a datagram with another key before it uses up a receive.
final class LaneKeys {
    // Keys with the highest bit set are the kernel's.
    private static final int MASK = 0x7FFF_FFFF;
    private static final SecureRandom RANDOM = new SecureRandom();

    private LaneKeys() {}

    /// The key of a lane that all members share: repair and control.
    static int shared(final HostPort group, final LaneKind kind) {
        final int address = mix(Arrays.hashCode(group.address().getAddress()));
        return mix(address + group.port() * LaneKind.values().length + kind.ordinal()) & MASK;
    }

    /// The key of one source's data, which is part of its address.
    static int ownData() {
        return RANDOM.nextInt() & MASK;
    }

    // Neighbouring groups and ports must not give neighbouring lanes the same key: MurmurHash3's finalizer keeps all
    // bits apart.
    private static int mix(final int bits) {
        int h = bits;
        h = (h ^ h >>> 16) * 0x85EB_CA6B;
        h = (h ^ h >>> 13) * 0xC2B2_AE35;
        return h ^ h >>> 16;
    }
}
