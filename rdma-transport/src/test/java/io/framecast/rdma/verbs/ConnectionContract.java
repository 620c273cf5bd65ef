package io.framecast.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.NativeException;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// One-sided operations over a reliable connection, on whatever devices there are: the stand-in or real ones.
abstract class ConnectionContract {
    private static final int BULK = 50_000;

    Fabric fabric;
    ConnectedEnd near;
    ConnectedEnd far;
    private int liveBefore;

    abstract Fabric fabric();

    @BeforeEach
    void open() {
        fabric = fabric();
        liveBefore = fabric.library().liveHandles();
        near = new ConnectedEnd(fabric, 0);
        far = new ConnectedEnd(fabric, 1);
    }

    @AfterEach
    void close() throws Exception {
        if (near != null) {
            near.close();
            far.close();
            assertEquals(liveBefore, fabric.library().liveHandles());
        }
    }

    private void connect() {
        near.connect(far);
        far.connect(near);
        assertEquals(QueuePair.State.RTS, near.queuePair.state());
    }

    private void fill(final MemorySegment memory, final long offset, final int bytes) {
        for (int i = 0; i < bytes; i++) {
            memory.set(JAVA_BYTE, offset + i, (byte) (i * 13 + i / 255));
        }
    }

    private void assertSame(final int bytes) {
        assertEquals(-1, near.memory.asSlice(0, bytes).mismatch(far.memory.asSlice(BULK, bytes)));
    }

    @Test
    void shouldWriteIntoThePeersMemory() {
        connect();
        fill(near.memory, 0, BULK);
        near.sends.write(0, far.at(BULK), far.region.remoteKey());
        assertEquals(CompletionStatus.SUCCESS, near.perform(0, BULK));
        assertSame(BULK);
        assertEquals(0, far.memory.get(JAVA_BYTE, BULK - 1L));
        assertEquals(0, far.completions.poll(far.batch));
    }

    @Test
    void shouldReadThePeersMemory() {
        connect();
        fill(far.memory, BULK, BULK);
        near.sends.read(0, far.at(BULK), far.region.remoteKey());
        assertEquals(CompletionStatus.SUCCESS, near.perform(0, BULK));
        assertSame(BULK);
    }

    @Test
    void shouldSendToAPostedReceive() {
        connect();
        fill(near.memory, 0, 3000);
        far.receives.element(1, 0, far.at(BULK), 4000, far.region.localKey());
        assertEquals(1, far.receives.post(far.queuePair, 1, 1));
        assertEquals(CompletionStatus.SUCCESS, near.perform(0, 3000));
        far.awaitOne();
        assertEquals(3000, far.batch.bytes(0));
        assertSame(3000);
    }

    @Test
    void shouldBreakWhenTheKeyIsWrong() {
        connect();
        near.sends.write(0, far.at(0), far.region.remoteKey() + 256);
        assertEquals(VerbsConstants.IBV_WC_REM_ACCESS_ERR, near.perform(0, 16));
        assertEquals(QueuePair.State.ERROR, near.queuePair.state());
        near.sends.write(0, far.at(0), far.region.remoteKey());
        assertEquals(VerbsConstants.IBV_WC_WR_FLUSH_ERR, near.perform(0, 16));
        near.queuePair.reset();
        assertEquals(QueuePair.State.RESET, near.queuePair.state());
    }

    @Test
    void shouldBreakWhenThePeerHasFailed() {
        connect();
        far.queuePair.fail();
        near.sends.write(0, far.at(0), far.region.remoteKey());
        assertEquals(VerbsConstants.IBV_WC_RETRY_EXC_ERR, near.perform(0, 16));
        assertEquals(QueuePair.State.ERROR, near.queuePair.state());
    }

    @Test
    void shouldBreakWhenThePeerHasNoReceive() {
        connect();
        assertEquals(VerbsConstants.IBV_WC_RNR_RETRY_EXC_ERR, near.perform(0, 16));
    }

    @Test
    void shouldRefuseToConnectBeforeItIsInitialized() {
        near.queuePair.reset();
        final NativeException e = assertThrows(NativeException.class, () -> near.connect(far));
        assertEquals("ibv_modify_qp", e.function());
        assertEquals(22, e.errno());
    }

    @Test
    void shouldSayThatDmaBufIsNotSupportedOrRegister() {
        final int access = Access.LOCAL_WRITE;
        final NativeException e =
                assertThrows(NativeException.class, () -> near.domain.registerDmaBuf(-1, 0, 0, 4096, access));
        assertEquals("ibv_reg_dmabuf_mr", e.function());
        // 95: not supported; 9: supported, but not for this descriptor.
        assertTrue(e.errno() == 95 || e.errno() == 9, e.getMessage());
    }
}
