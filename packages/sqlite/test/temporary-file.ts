import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A path for a database in a new folder. */
export async function temporaryFile(): Promise<{ path: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "keywright-sqlite-"));
  return {
    path: join(folder, "data.sqlite"),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
