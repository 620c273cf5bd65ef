package io.framecast.rdma;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.rdma.verbs.Fabric;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/// [VerbsTransportContract] on a stand-in that keeps from lanes what they send themselves.
final class StandInLoopbackTest extends VerbsTransportContract {
    private static long before;

    @BeforeAll
    static void block() {
        before = Fabric.standIn().count("flagged");
        System.setProperty(QueueDepths.BLOCKS_LOOPBACK_PROPERTY, "true");
    }

    @AfterAll
    static void letThrough() {
        System.clearProperty(QueueDepths.BLOCKS_LOOPBACK_PROPERTY);
        assertTrue(Fabric.standIn().count("flagged") > before);
    }

    @Override
    Fabric fabric() {
        return Fabric.standIn();
    }
}
