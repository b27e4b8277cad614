// A process that owns a folder until it is killed: `own-folder.mjs <folder>`.
import { openKv } from "@keywright/core";

const kv = await openKv(process.argv[2]);
console.log("open");
// The open database alone does not keep the process alive.
setInterval(() => kv.isShared, 60_000);
