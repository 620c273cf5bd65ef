/// What tests of several packages run streams with: nodes, transports that follow a script, a late device and a
/// late NIC, and users that check every byte.
@NullMarked
package io.framecast.engine.testing;

import org.jspecify.annotations.NullMarked;
