/// Subscribers of one stream on one host receive it once. One subscriber leads: it is the member that the source
/// sees, and shares its ring of frames with the other subscribers, its followers. docs/host-segment.md has the
/// layout of the shared memory, `reliability.group` its rules.
///
/// The node calls [io.framecast.engine.hostgroup.HostGroups].
@NullMarked
package io.framecast.engine.hostgroup;

import org.jspecify.annotations.NullMarked;
