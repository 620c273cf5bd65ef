package io.framecast.reliability.secure;

import io.framecast.reliability.crypto.Cipher;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.IntField;

/// KEYS, source → member, and KEYS_ACK, member → source, both sealed under the keys of the pair: the keys of an epoch.
///
/// ```
///  KEYS      40 epoch u32  44 key of the group's control datagrams (32)  76 key of the data (32)
///            108 epoch in use u32  112 the one in use before that u32, or 0
///  KEYS_ACK  40 epoch u32
/// ```
final class KeysLayout {
    static final IntField EPOCH = new IntField(ControlLayout.LENGTH, Integer.BYTES);
    static final int GROUP_KEY = ControlLayout.LENGTH + Integer.BYTES;
    static final int DATA_KEY = GROUP_KEY + Cipher.KEY_BYTES;
    static final IntField IN_USE = new IntField(DATA_KEY + Cipher.KEY_BYTES, Integer.BYTES);
    /// Length of the fields that give the keys of an epoch.
    static final int EPOCH_BYTES = DATA_KEY + Cipher.KEY_BYTES - ControlLayout.LENGTH;
    static final IntField BEFORE = new IntField(DATA_KEY + Cipher.KEY_BYTES + Integer.BYTES, Integer.BYTES);
    static final int KEYS_BYTES = DATA_KEY + Cipher.KEY_BYTES + 2 * Integer.BYTES;
    static final int ACK_BYTES = ControlLayout.LENGTH + Integer.BYTES;

    private KeysLayout() {}
}
