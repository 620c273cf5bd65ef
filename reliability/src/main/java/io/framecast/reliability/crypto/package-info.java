/// The parts of authentication and encryption that need no system: keys outside the heap, their derivation, tags of
/// headers, and the ports to ciphers and to the curve (docs/adr/0037-authentication-and-encryption.md).
@NullMarked
package io.framecast.reliability.crypto;

import org.jspecify.annotations.NullMarked;
