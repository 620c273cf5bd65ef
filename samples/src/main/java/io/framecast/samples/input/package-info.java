@NullMarked
package io.framecast.samples.input;

import org.jspecify.annotations.NullMarked;
