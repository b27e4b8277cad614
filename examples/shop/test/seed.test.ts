import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openKv } from "@keywright/core";
import { expect, it } from "vitest";
import { openShops } from "../src/database.js";

it("seeds a database with rows of two shops", async () => {
  const folder = await mkdtemp(join(tmpdir(), "keywright-shop-"));
  const command = fileURLToPath(
    new URL("../../../packages/codegen/bin/keywright.js", import.meta.url),
  );
  try {
    await promisify(execFile)(process.execPath, [command, "seed", "--seed", "1"], {
      cwd: fileURLToPath(new URL("..", import.meta.url)),
      env: { ...process.env, SHOP_DATA: folder },
    });
    await using kv = await openKv(folder);
    const shops = await openShops(kv);
    for (const tenantId of ["tea", "toys"]) {
      const shop = shops.scope({ tenantId });
      expect(await shop.customers.count()).toBe(10);
      expect(await shop.products.count({ where: { sold: 0 } })).toBe(15);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});
