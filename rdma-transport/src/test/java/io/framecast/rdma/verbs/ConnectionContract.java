package io.framecast.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
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
    void shouldTellThePeerWhenAWriteCarriesFourBytes() {
        connect();
        fill(near.memory, 0, 16);
        assertEquals(1, far.receives.post(far.queuePair, 2, 1));
        near.sends.writeWithImmediate(0, far.at(BULK), far.region.remoteKey(), 0xC0FFEE42);
        assertEquals(CompletionStatus.SUCCESS, near.perform(0, 16));
        far.awaitOne();
        assertTrue(far.batch.isSuccess(0), () -> CompletionStatus.describe(far.batch.status(0)));
        assertTrue(far.batch.isReceive(0));
        assertTrue(far.batch.hasImmediate(0));
        assertEquals(0xC0FFEE42, far.batch.immediate(0));
        assertEquals(16, far.batch.bytes(0));
        assertEquals(2, ReceiveRequests.slotOf(far.batch.request(0)));
        assertSame(16);
    }

    @Test
    void shouldSendToAPostedReceive() {
        connect();
        fill(near.memory, 0, 3000);
        far.receives.element(1, 0, far.at(BULK), 4000, far.region.localKey());
        assertEquals(1, far.receives.post(far.queuePair, 1, 1));
        near.sends.send(0);
        assertEquals(CompletionStatus.SUCCESS, near.perform(0, 3000));
        far.awaitOne();
        assertEquals(3000, far.batch.bytes(0));
        assertSame(3000);
    }

    @Test
    void shouldAddAndSwapInThePeersMemory() {
        connect();
        far.memory.set(JAVA_LONG, 64, 40);
        near.sends.fetchAdd(0, far.at(64), far.region.remoteKey(), 2);
        assertEquals(CompletionStatus.SUCCESS, near.perform(8, 8));
        assertEquals(40, near.memory.get(JAVA_LONG, 8));
        assertEquals(42, far.memory.get(JAVA_LONG, 64));
        near.sends.compareSwap(0, far.at(64), far.region.remoteKey(), 41, 7);
        assertEquals(CompletionStatus.SUCCESS, near.perform(8, 8));
        assertEquals(42, near.memory.get(JAVA_LONG, 8));
        assertEquals(42, far.memory.get(JAVA_LONG, 64));
        near.sends.compareSwap(0, far.at(64), far.region.remoteKey(), 42, 99);
        assertEquals(CompletionStatus.SUCCESS, near.perform(8, 8));
        assertEquals(99, far.memory.get(JAVA_LONG, 64));
    }

    @Test
    void shouldBreakWhenTheKeyIsWrong() {
        connect();
        near.sends.write(0, far.at(0), far.region.remoteKey() + 256);
        assertEquals(CompletionStatus.REMOTE_ACCESS, near.perform(0, 16));
        assertEquals(QueuePair.State.ERROR, near.queuePair.state());
        near.sends.write(0, far.at(0), far.region.remoteKey());
        assertEquals(CompletionStatus.FLUSHED, near.perform(0, 16));
        near.queuePair.reset();
        assertEquals(QueuePair.State.RESET, near.queuePair.state());
    }

    @Test
    void shouldBreakWhenThePeerHasFailed() {
        connect();
        far.queuePair.fail();
        near.sends.write(0, far.at(0), far.region.remoteKey());
        assertEquals(CompletionStatus.RETRIES_EXCEEDED, near.perform(0, 16));
        assertEquals(QueuePair.State.ERROR, near.queuePair.state());
    }

    @Test
    void shouldBreakWhenThePeerHasNoReceive() {
        connect();
        near.sends.send(0);
        assertEquals(CompletionStatus.NOT_READY_RETRIES_EXCEEDED, near.perform(0, 16));
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
