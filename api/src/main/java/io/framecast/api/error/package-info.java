/// The exceptions that Framecast throws, one sealed family. Every module throws them; users catch them.
@NullMarked
package io.framecast.api.error;

import org.jspecify.annotations.NullMarked;
