/// The keys of `auth=`: files and directories that hold them, behind the port of [io.framecast.reliability.secure].
@NullMarked
package io.framecast.engine.auth;

import org.jspecify.annotations.NullMarked;
