package io.framecast.api;

/// The value of each key: those that a URI gives, those of records, or the defaults.
@FunctionalInterface
interface KeyValues {
    Object value(ChannelKey key);

    /// The components of records; each key asked for is of one of them.
    static KeyValues of(final Object... records) {
        return key -> key.in(records).orElseThrow();
    }

    /// The same, but for one key.
    default KeyValues with(final ChannelKey changed, final Object value) {
        return key -> key == changed ? value : value(key);
    }

    /// The value, for the component that the key is of: its row in [ChannelKey] has the same type.
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    default <T> T get(final ChannelKey key) {
        return (T) value(key);
    }
}
