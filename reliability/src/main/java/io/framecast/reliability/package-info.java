@NullMarked
package io.framecast.reliability;

import org.jspecify.annotations.NullMarked;
