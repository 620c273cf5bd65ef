package io.framecast.api;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class FrameClaimTest {
    private final List<String> calls = new ArrayList<>();
    private final FrameClaim claim = new FrameClaim();
    private final MemorySegment slice = MemorySegment.ofArray(new byte[16]);

    @Test
    void shouldPublishOnceWhenCommitted() {
        claim.wrap(slice, owner("a"));
        assertSame(slice, claim.segment());
        claim.commit(FrameOptions.KEYFRAME);
        assertEquals(List.of("a commits " + FrameOptions.KEYFRAME.keyframe()), calls);
        assertSame(MemorySegment.NULL, claim.segment());
        assertThrows(IllegalStateException.class, () -> claim.commit(FrameOptions.DEFAULT));
        assertEquals(1, calls.size());
    }

    @Test
    void shouldGiveBackOnceWhenAborted() {
        claim.wrap(slice, owner("a"));
        claim.abort();
        claim.abort();
        assertEquals(List.of("a aborts"), calls);
        assertSame(MemorySegment.NULL, claim.segment());
    }

    @Test
    void shouldRefuseCommitWhenNothingIsClaimed() {
        assertThrows(IllegalStateException.class, () -> claim.commit(FrameOptions.DEFAULT));
        assertDoesNotThrow(claim::abort);
        assertEquals(0, claim.segment().byteSize());
    }

    @Test
    void shouldServeAnotherClaimWhenTheOwnerClaimsInsideCommit() {
        claim.wrap(slice, new FrameClaim.Owner() {
            @Override
            public void commit(final FrameOptions options) {
                claim.wrap(slice, owner("next"));
            }

            @Override
            public void abort() {
                calls.add("unexpected");
            }
        });
        claim.commit(FrameOptions.DEFAULT);
        claim.abort();
        assertEquals(List.of("next aborts"), calls);
    }

    private FrameClaim.Owner owner(final String name) {
        return new FrameClaim.Owner() {
            @Override
            public void commit(final FrameOptions options) {
                calls.add(name + " commits " + options.keyframe());
            }

            @Override
            public void abort() {
                calls.add(name + " aborts");
            }
        };
    }
}
