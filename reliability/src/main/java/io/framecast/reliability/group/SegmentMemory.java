package io.framecast.reliability.group;

/// The words that the processes of a host group share, at offsets in bytes, little-endian. Words of 4 bytes lie
/// at multiples of 4, words of 8 bytes at multiples of 8. Offsets are within the memory.
///
/// This is a class and no interface: a process loads one implementation, so the compiler binds each call without a test
/// of its type. Any thread, while the memory is mapped.
public abstract class SegmentMemory {
    public abstract byte getByte(int offset);

    public abstract int getInt(int offset);

    public abstract long getLong(int offset);

    public abstract int getIntVolatile(int offset);

    public abstract long getLongVolatile(int offset);

    /// Copies bytes out, as many as the target has room for.
    public abstract void getBytes(int offset, byte[] target);

    public abstract void putByte(int offset, byte value);

    public abstract void putInt(int offset, int value);

    public abstract void putLong(int offset, long value);

    /// Stores behind all earlier loads and stores of this thread.
    public abstract void putIntRelease(int offset, int value);

    /// Stores behind all earlier loads and stores of this thread.
    public abstract void putLongRelease(int offset, long value);

    public abstract void putIntVolatile(int offset, int value);

    public abstract void putLongVolatile(int offset, long value);

    /// Copies the first bytes of an array in.
    public abstract void putBytes(int offset, byte[] bytes, int count);

    /// Sets bytes to 0.
    public abstract void clear(int offset, int count);

    /// Replaces a word where it has the expected value.
    ///
    /// @return whether it had
    public abstract boolean compareAndSetInt(int offset, int expected, int value);

    /// As [#compareAndSetInt].
    public abstract boolean compareAndSetLong(int offset, long expected, long value);

    /// Adds to a word.
    ///
    /// @return its value before
    public abstract int getAndAddInt(int offset, int increment);
}
