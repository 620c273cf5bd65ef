@NullMarked
package io.framecast.samples;

import org.jspecify.annotations.NullMarked;
