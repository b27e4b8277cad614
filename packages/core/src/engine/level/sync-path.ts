import { open } from "node:fs/promises";

/**
 * Syncs a file, or the names in a folder, to disk. A file that was created or renamed survives a
 * power failure only if its folder was synced too. Windows cannot sync a folder, and does not need
 * to. It can sync a file that is open for writing (`"r+"`).
 */
export async function syncPath(path: string, flags: "r" | "r+" = "r"): Promise<void> {
  const file = await open(path, flags);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
