import { link, mkdtemp, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { ClassicLevel } from "classic-level";

/**
 * Locks a LevelDB database without opening it, so that its files can be changed. LevelDB locks the
 * file `LOCK`, so an empty database whose `LOCK` is a link to that file locks both.
 *
 * @returns a function that unlocks the database.
 * @throws the error of classic-level, if another process has the database open.
 */
export async function holdLock(folder: string): Promise<() => Promise<void>> {
  const lock = join(folder, "LOCK");
  await (await open(lock, "a")).close();
  // In the same folder, because a link cannot lead to another disk.
  const place = await mkdtemp(join(folder, "repair-"));
  const remove = () => rm(place, { recursive: true, force: true });
  try {
    await link(lock, join(place, "LOCK"));
    // A new ClassicLevel opens by itself, so it must not exist before the link.
    const level = new ClassicLevel(place);
    await level.open();
    return async () => {
      await level.close();
      await remove();
    };
  } catch (error) {
    await remove();
    throw error;
  }
}
