import type { BackupSink } from "./backup-sink.js";
import { manifestName, readCatalog, removalName } from "./format/backup-catalog.js";

/**
 * Removes all but the newest backups of a sink, and the remains of interrupted backups that are
 * older than the newest.
 *
 * @param keep how many full backups stay, with what was added to them.
 * @param newest the name of the backup that was just made.
 */
export async function removeBackups(
  sink: BackupSink,
  { keep, newest }: { readonly keep: number; readonly newest: string },
): Promise<void> {
  const { generations, unfinished, objects } = await readCatalog(sink);
  const old = generations.slice(0, -keep).map(({ name }) => name);
  // Without a manifest, the other objects of a backup count as those of an interrupted one.
  for (const name of old) await sink.delete(manifestName(name));
  for (const name of [...old, ...unfinished.filter((each) => each < newest)]) {
    // A backup that is still running looks for this object after it has written its manifest.
    await sink.put(removalName(name), new Uint8Array(0));
    const isFinished = (await sink.get(manifestName(name))) !== undefined;
    const chunks = objects.filter((object) => object.startsWith(`${name}/`));
    if (!isFinished) for (const chunk of chunks) await sink.delete(chunk);
    await sink.delete(removalName(name));
  }
  await sink.removeRemains?.();
}
