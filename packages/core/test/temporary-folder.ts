import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Runs a body with a folder of its own, which is removed afterwards. */
export async function withFolder<T>(body: (folder: string) => Promise<T>): Promise<T> {
  const folder = await makeFolder();
  try {
    return await body(folder);
  } finally {
    await removeFolder(folder);
  }
}

export async function makeFolder(): Promise<string> {
  return await mkdtemp(join(tmpdir(), "keywright-"));
}

export async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}
