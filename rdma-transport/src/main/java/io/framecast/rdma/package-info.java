@NullMarked
package io.framecast.rdma;

import org.jspecify.annotations.NullMarked;
