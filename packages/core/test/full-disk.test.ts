import { expect, it, vi } from "vitest";
import { openKv } from "../src/kv/open-kv.js";
import { withFolder } from "./temporary-folder.js";

vi.mock("../src/kv/open/create-level-files.js", () => ({
  createLevelFiles: async () => {
    throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
  },
}));

it("a disk without space for a new database is reported as such", async () => {
  await withFolder(async (folder) => {
    await expect(openKv(folder)).rejects.toMatchObject({
      code: "KW_ENGINE_FAILED",
      operation: "open",
      path: folder,
    });
  });
});
