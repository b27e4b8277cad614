import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { withFolder } from "../temporary-folder.js";

const script = fileURLToPath(new URL("../workers-that-dispose.mjs", import.meta.url));

it("a worker may end directly after it has disposed of a database", async () => {
  await withFolder(async (folder) => {
    // Deno crashes if a worker ends while classic-level reads or writes.
    const { stdout } = await promisify(execFile)(process.execPath, [script, folder]);
    expect(stdout.trim()).toBe("20");
  });
});
