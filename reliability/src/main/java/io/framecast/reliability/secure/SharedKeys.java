package io.framecast.reliability.secure;

import io.framecast.reliability.crypto.SecretBytes;
import org.jspecify.annotations.Nullable;

/// The port to the keys that ends of a stream share before it begins.
///
/// One thread.
public interface SharedKeys {
    /// Id of the key that a receiver uses, which is no secret.
    String id();

    /// The key that a receiver uses, as long as these keys are open.
    SecretBytes key();

    /// The key that a receiver names to its source.
    ///
    /// @param id its characters are those of a key file, without a leading dot
    /// @return a copy, which the caller closes; null where the source has no such key
    @Nullable
    SecretBytes find(String id);

    /// Whether each member has a key of its own.
    boolean isOfEach();

    /// Whether the key of a member was taken away.
    boolean isGone(String id);
}
