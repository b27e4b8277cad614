import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { FileDamage } from "../../files/file-report.js";
import type { TableFile } from "./database-files.js";
import { tableDamage } from "./table-damage.js";

export interface TableCheckOptions {
  /** The maximum number of bytes that are read per second. Infinity for no limit. */
  readonly bytesPerSecond: number;
  /** True if the process does not end while the check waits. */
  readonly keepsAlive: boolean;
}

export interface CheckedTable {
  readonly name: string;
  /** Undefined if there is no such file. LevelDB deletes tables that it has replaced. */
  readonly bytes: number | undefined;
  readonly damages: readonly FileDamage[];
}

/** Verifies tables one after the other. */
export async function* checkTables(
  folder: string,
  tables: readonly TableFile[],
  { bytesPerSecond, keepsAlive }: TableCheckOptions,
): AsyncGenerator<CheckedTable> {
  const startedAt = performance.now();
  let total = 0;
  for (const table of tables) {
    const checked = await checkTable(folder, table);
    yield checked;
    total += checked.bytes ?? 0;
    const wait = (total / bytesPerSecond) * 1000 - (performance.now() - startedAt);
    if (wait > 0) await delay(wait, undefined, { ref: keepsAlive });
  }
}

async function checkTable(folder: string, { name, bounds }: TableFile): Promise<CheckedTable> {
  try {
    const table = await readFile(join(folder, name));
    return { name, bytes: table.length, damages: tableDamage(name, table, bounds) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return { name, bytes: undefined, damages: [] };
    if (code !== "EIO") throw error;
    const { firstKey, lastKey } = bounds;
    const reason = "the disk cannot read it";
    return { name, bytes: 0, damages: [{ file: name, offset: 0, reason, firstKey, lastKey }] };
  }
}
