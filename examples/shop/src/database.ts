import type { KvLike } from "@keywright/core";
import {
  createDatabase,
  type Database,
  type Middleware,
  type ScopedDatabase,
} from "@keywright/orm";
import { models } from "./models.js";
import { takeStock } from "./take-stock.js";

/** The rows of all tenants. Only the program that opens it sees it. */
export type Shops = Database<typeof models>;

/** The rows of one tenant: `shops.scope({ tenantId })`. All functions of the shop take this. */
export type Shop = ScopedDatabase<typeof models, { tenantId: string }>;

export async function openShops(
  kv: KvLike,
  middleware: readonly Middleware[] = [],
): Promise<Shops> {
  return await createDatabase({ kv, models, hooks: { orderLines: takeStock }, middleware });
}
