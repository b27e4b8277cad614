// What the package exports in a browser: the same names as `index.ts`.
import { BrowserUnsupportedError } from "./errors/browser-error.js";
import type * as node from "./index.js";

export { openKv } from "./kv/open-kv-in-browser.js";
export * from "./portable.js";

export const copyKv: typeof node.copyKv = refusing("copyKv", "copies no database");
export const moveKv: typeof node.moveKv = refusing("moveKv", "moves no database");
export const undoMove: typeof node.undoMove = refusing("undoMove", "moves no database");
export const repairDatabase: typeof node.repairDatabase = refusing(
  "repairDatabase",
  "has no files",
);
export const rescueDatabase: typeof node.rescueDatabase = refusing(
  "rescueDatabase",
  "has no files",
);
export const verifyFiles: typeof node.verifyFiles = refusing("verifyFiles", "has no files");

function refusing(operation: string, reason: string): () => Promise<never> {
  const remedy = "Call it in Node.js, Deno or Bun";
  return async () => {
    throw new BrowserUnsupportedError(operation, reason, remedy);
  };
}
