package io.framecast.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.framecast.api.spi.OneSidedEndpoint;
import io.framecast.api.spi.OneSidedEndpoint.State;
import io.framecast.api.spi.Transport;
import io.framecast.rdma.verbs.Fabric;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// [TrafficClassContract] on the stand-in, which reports connections too.
final class StandInTrafficClassTest extends TrafficClassContract {
    @Override
    Fabric fabric() {
        return Fabric.standIn();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 26, 63})
    void shouldMarkWhatGoesByReliableConnections(final int dscp) {
        try (Transport near = open(0, dscp);
                Transport far = open(1, 7)) {
            final OneSidedEndpoint actor =
                    Objects.requireNonNull(near.oneSided()).open(4);
            final OneSidedEndpoint server =
                    Objects.requireNonNull(far.oneSided()).accept(actor.descriptor());
            Wait.until("the server to be up", () -> server.state() == State.UP);
            assertEquals(7 << 2, fabric.count("connected_class"));
            actor.connect(server.descriptor());
            Wait.until("the actor to be up", () -> actor.state() == State.UP);
            assertEquals(dscp << 2, fabric.count("connected_class"));
        }
    }

    @Override
    int hopsToOne(final int ttl) {
        return ttl;
    }
}
