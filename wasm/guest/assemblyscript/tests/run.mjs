// SPDX-License-Identifier: Apache-2.0

// Compiles tests/unit.ts and runs its tests, each in an instance of its own.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const traps = {
  testTrapIndex: "panic: Index out of range (~lib/array.ts:",
  testTrapThrow: "panic: own text (tests/unit.ts:",
  testTrapAssert: "panic: too few rows (tests/unit.ts:",
  testTrapPanic: "my words",
  testTrapRow: "row 1 of a column of 1 rows",
  testTrapKind: "a column of STRING is read as one of I64",
  testTrapEntry: "row 9 of a batch of 1 rows",
  testTrapHeld: "entry 0 of 0 held ones",
};

const dir = mkdtempSync(join(tmpdir(), "nervix-as-"));
const file = join(dir, "unit.wasm");
let wasm;
try {
  // Tests call exported functions from inside, with objects on the stack, so the collector has to know roots.
  execFileSync("node_modules/.bin/asc", ["tests/unit.ts", "-O1", "--runtime", "incremental", "--use", "abort=assembly/host/abortGuest", "-o", file],
    { stdio: "inherit" });
  wasm = new WebAssembly.Module(readFileSync(file));
} finally {
  rmSync(dir, { recursive: true });
}

function instance() {
  let now = 1000n, handle = 0n;
  return new WebAssembly.Instance(wasm, {
    env: {
      nervix_domain_time_nanos: () => now,
      nervix_timeout_after_nanos: () => ++handle,
      nervix_request_state_reset: () => 0,
    },
    test: { set_now: (at) => { now = at; } },
  }).exports;
}

let failed = 0;
const names = WebAssembly.Module.exports(wasm).map((e) => e.name).filter((n) => n.startsWith("test"));
for (const name of names) {
  const guest = instance();
  let trapped = "";
  try {
    guest[name]();
  } catch (e) {
    trapped = String(e);
  }
  const at = guest.nervix_global_error_ptr(), size = guest.nervix_global_error_len();
  const reason = new TextDecoder().decode(new Uint8Array(guest.memory.buffer, at, size));
  const want = traps[name];
  const ok = want === undefined ? trapped === "" && reason === "" : trapped !== "" && reason.startsWith(want);
  console.log(`${ok ? "ok  " : "FAIL"} ${name}${ok ? "" : `: ${trapped || "returned"}, ${reason}`}`);
  failed += ok ? 0 : 1;
}
// The first guest of README.md is the file that is built.
const source = readFileSync("first.ts", "utf8");
if (!readFileSync("README.md", "utf8").includes("```ts\n" + source.slice(source.indexOf("import {")) + "```\n")) {
  console.log("FAIL README.md does not show first.ts as it is");
  failed++;
}
if (names.length < 20) throw new Error(`only ${names.length} tests`);
process.exit(failed > 0 ? 1 : 0);
