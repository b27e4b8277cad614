import { compareBytes } from "../../bytes/compare-bytes.js";
import { type DatabaseMode, verifyDatabaseHeader } from "../../engine/level/database-header.js";
import type { NewestWrites } from "../../engine/level/repair/newest-writes.js";
import { headerKey } from "../../engine/level/reserved-keys.js";
import { firstEntryKey } from "../../engine/system-keys.js";
import { DatabaseModeError } from "../../errors/core-errors.js";
import { decodeKey } from "../../keys/decode-key.js";
import { denoOrder, type KeyOrder, specificationOrder } from "../../keys/key-order.js";

/** Returns the mode of a database. If its header is lost, its keys show the mode. */
export async function modeOfWrites(newest: NewestWrites): Promise<DatabaseMode> {
  const header = newest.get(headerKey)?.value;
  if (header === undefined) return await modeOfKeys(newest);
  try {
    verifyDatabaseHeader(header, "specification");
    return "specification";
  } catch (error) {
    if (error instanceof DatabaseModeError) return error.mode;
    throw error;
  }
}

async function modeOfKeys(newest: NewestWrites): Promise<DatabaseMode> {
  for await (const key of newest.keys()) {
    if (compareBytes(key, firstEntryKey) < 0 || isKeyIn(specificationOrder, key)) continue;
    if (isKeyIn(denoOrder, key)) return "deno";
  }
  return "specification";
}

function isKeyIn(order: KeyOrder, key: Uint8Array): boolean {
  try {
    decodeKey(key, order);
    return true;
  } catch {
    return false;
  }
}
