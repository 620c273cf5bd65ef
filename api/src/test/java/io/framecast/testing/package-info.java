/// Shared by the tests of several modules.
@NullMarked
package io.framecast.testing;

import org.jspecify.annotations.NullMarked;
