import { openKv } from "@keywright/core";
import { expect, it, vi } from "vitest";
import { createDatabase, migrate } from "../src/index.js";
import { verifyIndexes } from "../src/migrate.js";

it("a database of another copy of the package is refused with what to do", async () => {
  vi.resetModules();
  const other = await import("../src/index.js");
  expect(other.createDatabase).not.toBe(createDatabase);
  const kv = await openKv();
  try {
    const db = await other.createDatabase({ kv, models: {} });
    for (const call of [migrate, verifyIndexes]) {
      const error = await call(db).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(TypeError);
      expect((error as Error).message).toMatch(/^The database was opened by another copy of @key/);
      expect((error as Error).message).toContain("npm ls @keywright/orm");
    }
    expect((await other.migrate(db)).status).toBe("done");
    await expect(migrate({})).rejects.toThrow(/createDatabase returned/);
  } finally {
    await kv.close();
  }
});
