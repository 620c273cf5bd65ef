@NullMarked
package io.framecast.api.error;

import org.jspecify.annotations.NullMarked;
