@NullMarked
package io.framecast.reliability.repair;

import org.jspecify.annotations.NullMarked;
