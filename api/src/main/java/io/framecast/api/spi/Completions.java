package io.framecast.api.spi;

/// A reusable batch of receive completions, in order of arrival, filled by [Lane#poll].
public final class Completions {
    private final int[] slots;
    private final int[] bytes;
    private int count;

    public Completions(final int capacity) {
        slots = new int[capacity];
        bytes = new int[capacity];
    }

    public int capacity() {
        return slots.length;
    }

    public int count() {
        return count;
    }

    public boolean isFull() {
        return count == slots.length;
    }

    /// Ring slot in which datagram `index` arrived.
    public int slot(final int index) {
        return slots[index];
    }

    /// Length of datagram `index`: header and payload, without the transport's reserve.
    public int bytes(final int index) {
        return bytes[index];
    }

    public void clear() {
        count = 0;
    }

    public void add(final int slot, final int datagramBytes) {
        slots[count] = slot;
        bytes[count] = datagramBytes;
        count++;
    }

    /// Takes out datagram `index`, as if it had been lost after arrival; the order of the others is kept.
    public void remove(final int index) {
        System.arraycopy(slots, index + 1, slots, index, count - index - 1);
        System.arraycopy(bytes, index + 1, bytes, index, count - index - 1);
        count--;
    }
}
