/// Words that host and device share. Only the packages below call it, and tests and benches.
@NullMarked
package io.framecast.gpu;

import org.jspecify.annotations.NullMarked;
