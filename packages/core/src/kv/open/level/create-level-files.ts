import { randomInt } from "node:crypto";
import { link, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { linkErrors } from "../../../engine/level/link-errors.js";
import { syncPath } from "../../../engine/level/sync-path.js";

/**
 * The manifest that LevelDB writes first: the name of the comparator, log number 0, next file
 * number 2, last sequence 0. It is the same for every new database.
 */
const firstManifest = Buffer.from(
  "957cb9c5220001011a6c6576656c64622e4279746577697365436f6d70617261746f72020003020400",
  "hex",
);
const manifestName = "MANIFEST-000001";

/**
 * Creates an empty LevelDB database in a folder that has no file `CURRENT`. LevelDB would do the
 * same, but would not sync the manifest, so a power failure could leave a database that cannot be
 * opened. `CURRENT` is linked last, so a folder without it holds nothing.
 *
 * Several processes may do this at once. All write the same bytes, and only one creates `CURRENT`.
 * LevelDB in that process may delete the files of the others.
 */
export async function createLevelFiles(folder: string): Promise<void> {
  const manifest = await writeSynced(folder, firstManifest);
  await rename(manifest, join(folder, manifestName)).catch(ignore(["ENOENT"]));
  await syncEntries(folder);
  const current = await writeSynced(folder, Buffer.from(`${manifestName}\n`));
  // On a disk without hard links, LevelDB itself creates the database.
  await link(current, join(folder, "CURRENT")).catch(ignore(["EEXIST", "ENOENT", ...linkErrors]));
  await rm(current, { force: true });
  await syncEntries(folder);
}

function ignore(codes: readonly string[]): (error: NodeJS.ErrnoException) => void {
  return (error) => {
    if (!codes.includes(error.code!)) throw error;
  };
}

/** Writes a file under a name that LevelDB deletes if the process is stopped. */
async function writeSynced(folder: string, content: Uint8Array): Promise<string> {
  const path = join(folder, `${randomInt(1, 2 ** 47)}.dbtmp`);
  const file = await open(path, "wx");
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  return path;
}

/** Windows cannot sync a folder, and does not need to. */
async function syncEntries(folder: string): Promise<void> {
  if (process.platform !== "win32") await syncPath(folder);
}
