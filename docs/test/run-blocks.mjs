// Runs compiled code blocks in one process, each in an empty folder of its own, and prints what
// each of them printed: code-blocks.test.ts starts it with the paths of the blocks.
import { AsyncLocalStorage } from "node:async_hooks";
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** What a block has printed, and how it has failed. */
const results = new Map();
const current = new AsyncLocalStorage();
const write = process.stdout.write.bind(process.stdout);
process.stdout.write = (text) => {
  const result = current.getStore();
  if (result === undefined) return write(text);
  result.output += text;
  return true;
};
const start = process.cwd();
const folders = [];
const fail = (error) => {
  const result = current.getStore();
  if (result === undefined) throw error;
  result.failure = error?.stack ?? String(error);
};
process.on("uncaughtException", fail);

for (const path of process.argv.slice(2)) {
  const folder = await mkdtemp(join(tmpdir(), "keywright-docs-"));
  folders.push(folder);
  process.chdir(folder);
  const result = { output: "" };
  results.set(path, result);
  await current.run(result, () => import(pathToFileURL(path).href).catch(fail));
}
process.chdir(start);

// A block may print after its last line has run. The process ends when all of them have ended.
process.once("beforeExit", () => {
  for (const folder of folders) rmSync(folder, { recursive: true });
  write(JSON.stringify(Object.fromEntries(results)));
});
