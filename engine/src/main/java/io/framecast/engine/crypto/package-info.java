/// The parts of authentication and encryption: keys and the files that hold them, the derivation of keys, ciphers
/// that seal datagrams (docs/adr/0037-authentication-and-encryption.md).
@NullMarked
package io.framecast.engine.crypto;

import org.jspecify.annotations.NullMarked;
