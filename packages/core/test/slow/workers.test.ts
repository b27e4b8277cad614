import { execFile, spawn } from "node:child_process";
import { copyFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, it } from "vitest";
import { makeFolder, removeFolder } from "../temporary-folder.js";

const program = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const isNode = !("Deno" in globalThis) && !("Bun" in globalThis);
const onNode = it.skipIf(!isNode || process.platform === "win32");

let folder: string;
beforeEach(async () => {
  folder = await makeFolder();
});
afterEach(async () => {
  await removeFolder(folder);
});

onNode("workers of a cluster continue when the one that owns the folder is killed", async () => {
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, [program("cluster-of-workers.mjs"), folder]);
  const { owners, counted, stored } = JSON.parse(stdout) as Record<string, number>;
  // Each worker owned the folder once.
  expect(owners).toBe(4);
  expect(stored).toBeGreaterThanOrEqual(counted!);
  // A killed worker may have made a commit that it did not report.
  expect(stored).toBeLessThanOrEqual(counted! + 3);
});

onNode("a program that node --watch restarts opens its folder each time", async () => {
  const copy = join(folder, "program.mjs");
  await copyFile(program("count-starts.mjs"), copy);
  const dist = new URL("../../dist/index.js", import.meta.url).href;
  const source = (await readFile(copy, "utf8")).replace("../dist/index.js", dist);
  await writeFile(copy, source);
  const child = spawn(process.execPath, ["--watch", copy, join(folder, "data")], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  let onOutput: () => void = () => undefined;
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output += String(chunk);
      onOutput();
    });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  try {
    for (let start = 1; start <= 4; start++) {
      while (!output.includes(`start ${start} attached false`)) {
        expect(output).not.toMatch(/KW_|Failed running/);
        await new Promise<void>((resolve) => {
          onOutput = resolve;
        });
      }
      await writeFile(copy, `${source}// Change ${start}.\n`);
    }
  } finally {
    child.kill();
    await exited;
  }
});
