/// The example programs of the README. No package calls them.
@NullMarked
package io.framecast.samples.programs;

import org.jspecify.annotations.NullMarked;
