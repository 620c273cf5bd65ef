/// Streams under attack: garbage, forged and replayed datagrams, floods of handshakes, addresses of others.
@NullMarked
package io.framecast.engine.hostile;

import org.jspecify.annotations.NullMarked;
