// What the package exports in Node.js, Deno and Bun. Browsers get `browser.ts`.
export { copyKv } from "./kv/copy/copy-kv.js";
export { moveKv, undoMove } from "./kv/move/move-kv.js";
export { verifyFiles } from "./kv/open/verify-files.js";
export { openKv } from "./kv/open-kv.js";
export { repairDatabase } from "./kv/repair/repair-database.js";
export { rescueDatabase } from "./kv/repair/rescue-database.js";
export * from "./portable.js";
