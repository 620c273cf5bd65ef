/// Key files, and ciphers and curve of this system behind the ports of [io.framecast.reliability.crypto]
/// (docs/adr/0037-authentication-and-encryption.md).
@NullMarked
package io.framecast.engine.crypto;

import org.jspecify.annotations.NullMarked;
