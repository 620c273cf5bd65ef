package io.framecast.engine.hostgroup;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceHandle;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceSharing;
import io.framecast.reliability.group.DeviceWords;

/// Another member's device memory as this one has opened it: places that hold copies of frames.
///
/// Threading: under the lock of its [FollowerCopies].
final class DeviceImport {
    private final DeviceWords words;
    private final DeviceWords.Offer offer;
    private final DeviceSharing sharing;
    private final DeviceRegion memory;
    private final boolean inPlace;
    private int held;

    /// The segment stays in use until [#close] is done.
    ///
    /// @param readsInPlace whether frames are read there, where both devices are one
    /// @throws io.framecast.api.error.DeviceException when the device cannot open the memory
    DeviceImport(
            final DeviceSharing sharing,
            final DeviceWords words,
            final DeviceWords.Offer offer,
            final boolean readsInPlace) {
        this.sharing = sharing;
        this.words = words;
        this.offer = offer;
        final DeviceWords.Handle named = offer.handle();
        memory = sharing.open(new DeviceHandle(named.device(), named.bytes(), named.text()));
        // Into memory of this process, which no other process can break.
        final boolean own = offer.process() == ProcessHandle.current().pid();
        inPlace = (own || readsInPlace) && named.device().equals(sharing.identity());
    }

    DeviceWords.Offer offer() {
        return offer;
    }

    boolean inPlace() {
        return inPlace;
    }

    /// Places as a [FollowerCopies] keeps them, for frames that are read here; none where they are copied.
    FollowerCopies.Place[] places(final DeviceBackend device) {
        final FollowerCopies.Place[] places = new FollowerCopies.Place[inPlace ? offer.slots() : 0];
        for (int i = 0; i < places.length; i++) {
            places[i] = new FollowerCopies.Place(slot(i), i, device.openEvent(), device.openEvent());
        }
        return places;
    }

    boolean isOffered() {
        return words.isOffered(offer);
    }

    /// True when its process lives: all bytes that were read until now were there.
    boolean lives() {
        return Processes.isWhole(offer.process());
    }

    boolean isDecided(final long number) {
        return number < offer.first() || words.isDecided(offer, number);
    }

    /// Holds the place of an entry's frame until [#leave].
    ///
    /// @return [DeviceWords#NONE] where it lies nowhere here
    int hold(final long number, final long bytes) {
        final int slot =
                number < offer.first() || bytes > offer.slotBytes() ? DeviceWords.NONE : words.hold(offer, number);
        held += slot == DeviceWords.NONE ? 0 : 1;
        return slot;
    }

    void leave(final int slot) {
        words.leave(slot);
        held--;
    }

    int held() {
        return held;
    }

    DeviceRegion slot(final int slot) {
        return memory.slice(slot * offer.slotBytes(), offer.slotBytes());
    }

    /// Once nothing is held.
    void close(final Runnable afterwards) {
        sharing.close(memory, () -> {
            words.unuse();
            afterwards.run();
        });
    }
}
