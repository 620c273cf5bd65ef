@NullMarked
package io.framecast.samples.json;

import org.jspecify.annotations.NullMarked;
