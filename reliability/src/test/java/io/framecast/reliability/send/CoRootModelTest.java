package io.framecast.reliability.send;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.send.CoRootConfig.Feed;
import org.junit.jupiter.api.Test;

final class CoRootModelTest {
    private final CoRootModel model = CoRootModel.DEFAULT;

    @Test
    void shouldAskForNoneWhenTheGroupIsSmall() {
        assertEquals(0, model.coRoots(CoRootModel.MEMBERS_MIN - 1, Feed.MULTICAST));
    }

    @Test
    void shouldAskForTheRootOfTheGroupWhenDataComesByMulticast() {
        assertEquals(4, model.coRoots(16, Feed.MULTICAST));
        assertEquals(16, model.coRoots(256, Feed.MULTICAST));
        assertEquals(64, model.coRoots(4096, Feed.MULTICAST));
    }

    // Time that the busier of source and co-root spends per data datagram, in nanoseconds.
    private double costNs(final int members, final int coRoots, final Feed feed) {
        final double perAck = model.ackNs() / model.datagramsPerAck();
        final double source = coRoots * (perAck + (feed == Feed.UNICAST ? model.unicastNs() : 0));
        return Math.max(source, (double) members / coRoots * perAck);
    }

    @Test
    void shouldCostLeastWhereItSays() {
        for (final Feed feed : Feed.values()) {
            for (final int members : new int[] {64, 256, 1024}) {
                final int best = model.coRoots(members, feed);
                assertTrue(costNs(members, best, feed) <= 1.05 * costNs(members, 4 * best, feed));
                assertTrue(best == 1
                        || costNs(members, best, feed) <= 1.05 * costNs(members, Math.max(1, best / 4), feed)
                        || members / (best / 2) > 64);
            }
        }
    }

    @Test
    void shouldAskForFewerWhenEachCostsADatagramMore() {
        assertTrue(model.coRoots(256, Feed.UNICAST) < model.coRoots(256, Feed.MULTICAST));
    }

    @Test
    void shouldAskForEnoughToHoldEverybody() {
        assertTrue(64 * model.coRoots(4096, Feed.UNICAST) >= 4096);
    }
}
