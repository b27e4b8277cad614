import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { openKv } from "../src/kv/open-kv.js";
import { withFolder } from "./temporary-folder.js";

const script = fileURLToPath(new URL("open-in-child.mjs", import.meta.url));

async function openInChild(path: string): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, [script, path]);
  return JSON.parse(stdout);
}

// It waits for other processes, on whatever machine.
describe("a second process", () => {
  it("is told that the database is locked, and opens it when it is closed", async () => {
    await withFolder(async (path) => {
      const kv = await openKv(path);
      try {
        await kv.set(["a"], 1);
        expect(await openInChild(path)).toEqual({
          name: "DatabaseLockedError",
          code: "KW_DATABASE_LOCKED",
          retryable: true,
          path,
        });
        // The one that has it open does not notice.
        await kv.set(["a"], 2);
      } finally {
        await kv.close();
      }
      expect(await openInChild(path)).toEqual({ value: 2 });
    });
  });
});
