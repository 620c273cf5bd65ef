package io.framecast.reliability.window;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/// A thread that holds a stale word changes nothing.
final class OpenBundleTest {
    private final OpenBundle bundle = new OpenBundle();

    private long append(final long sequence, final long entry) {
        assertTrue(bundle.append(bundle.word(), sequence, entry));
        return bundle.word();
    }

    @Test
    void shouldBeOpenForItsOwnSequenceOnly() {
        assertFalse(OpenBundle.isOpen(OpenBundle.NONE, 0));
        bundle.open(3, 64);
        assertTrue(OpenBundle.isOpen(bundle.word(), 3));
        assertFalse(OpenBundle.isOpen(bundle.word(), 4));
        assertTrue(bundle.close(bundle.word()));
        assertFalse(OpenBundle.isOpen(bundle.word(), 3));
    }

    @Test
    void shouldChangeNothingWhenTheWordIsOld() {
        bundle.open(3, 64);
        final long old = bundle.word();
        final long word = append(3, 5);
        assertEquals(1, OpenBundle.count(word));
        assertEquals(64, OpenBundle.usedBytes(word));
        assertFalse(bundle.claim(old, 3, 128));
        assertFalse(bundle.abort(old, 3));
        assertFalse(bundle.append(old, 3, 6));
        assertFalse(bundle.close(old));
        assertEquals(word, bundle.word());
    }

    @Test
    void shouldForgetTheClaimWhenItIsTakenBack() {
        bundle.open(3, 64);
        append(3, 5);
        assertTrue(bundle.claim(bundle.word(), 3, 201));
        assertEquals(208, OpenBundle.claimedBytes(bundle.word()));
        assertTrue(bundle.abort(bundle.word(), 3));
        assertEquals(64, OpenBundle.claimedBytes(bundle.word()));
        assertEquals(1, OpenBundle.count(bundle.word()));
    }

    @Test
    void shouldNotOverwriteATableThatIsBeingSealed() {
        assertTrue(bundle.isFree(17, 10));
        assertFalse(bundle.isFree(18, 10));
        bundle.sealed(9);
        assertFalse(bundle.isFree(18, 10));
        bundle.sealed(10);
        assertTrue(bundle.isFree(18, 10));
    }

    @Test
    void shouldKeepTheTablesOfNeighboursApart() {
        bundle.first(3, 30, 300, 0, 0);
        bundle.open(3, 64);
        append(3, 5);
        bundle.first(4, 40, 400, 0, 0);
        bundle.open(4, 64);
        append(4, 6);
        assertEquals(5, bundle.entry(3, 0));
        assertEquals(30, bundle.firstFrameId(3));
        assertEquals(300, bundle.timestampNs(3));
        assertEquals(6, bundle.entry(4, 0));
        assertEquals(40, bundle.firstFrameId(4));
        assertEquals(400, bundle.timestampNs(4));
    }
}
