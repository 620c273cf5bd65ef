/// What tests of several modules share.
@NullMarked
package io.framecast.testing;

import org.jspecify.annotations.NullMarked;
