package io.framecast.rdma.verbs;

import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RcPeerTest {
    @ParameterizedTest
    @CsvSource({"0, 6, 0", "32, 6, 0", "14, 7, 0", "14, 6, 7", "14, -1, 0"})
    void shouldRefuseToWaitForEver(final int timeout, final int retries, final int notReadyRetries) {
        assertThrows(
                IllegalArgumentException.class, () -> new RcPeer.Patience(timeout, retries, notReadyRetries, 12, 4));
    }

    @Test
    void shouldTakeTheLongestThatEnds() {
        new RcPeer.Patience(31, 6, 6, 12, 4);
    }
}
