// SPDX-License-Identifier: Apache-2.0

// The functions of a module. The file that is compiled says: export * from ".../assembly/exports".
import { settle } from "./collector";
import { clearReason, hostNow, reasonLength, reasonPtr } from "./host";
import { instance } from "./instance";
import { REJECTED } from "./processor";

export function nervix_buffer_ptr(): i32 {
  return <i32>instance.buffer().ptr;
}

export function nervix_buffer_len(): i32 {
  return instance.buffer().size;
}

export function nervix_buffer_capacity(): i32 {
  return instance.buffer().capacity;
}

export function nervix_alloc(size: i32): i32 {
  return instance.alloc(size);
}

export function nervix_init(ptr: i32, size: i32): i32 {
  let code = instance.range(ptr, size);
  if (code < 0) return code;
  code = instance.start(ptr, size);
  settle();
  return code;
}

export function nervix_current_domain_time_nanos(): i64 {
  return hostNow();
}

export function nervix_process_batch(ptr: i32, size: i32): i32 {
  let code = instance.range(ptr, size);
  if (code < 0) return code;
  code = instance.processBatch(ptr, size);
  settle();
  return code;
}

export function nervix_on_timeout(handle: i64): i32 {
  const code = instance.onTimeout(handle);
  settle();
  return code;
}

export function nervix_flush(): i32 {
  const code = instance.flush();
  settle();
  return code;
}

export function nervix_read_emit(): i32 {
  return instance.readEmit();
}

export function nervix_dump_state(): i32 {
  const code = instance.dumpState();
  settle();
  return code;
}

export function nervix_load_state(ptr: i32, size: i32): i32 {
  let code = instance.range(ptr, size);
  if (code < 0) return code;
  code = instance.loadState(ptr, size);
  settle();
  return code;
}

// Never called by a host: a new life of the state is a new instance.
export function nervix_reset_state(): i32 {
  return REJECTED;
}

export function nervix_global_error_ptr(): i32 {
  return reasonPtr();
}

export function nervix_global_error_len(): i32 {
  return reasonLength();
}

export function nervix_clear_global_error(): i32 {
  clearReason();
  return 0;
}
