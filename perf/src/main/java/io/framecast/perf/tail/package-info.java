/// `framecast bench tail`: how late repairs are, on namespaces whose lost datagrams come to another port.
///
/// [TailOptions] makes [TailCase]s; [TailRun] has a publisher and subscribers ([TailRole]) carry a stream
/// while a [PacketTap] watches each subscriber's host; [TailJoin] joins the logs of their [TailReport]s;
/// [TailRow] declares the fields and columns. `io.framecast.perf.bench` alone calls this package.
@NullMarked
package io.framecast.perf.tail;

import org.jspecify.annotations.NullMarked;
