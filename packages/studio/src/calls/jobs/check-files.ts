import { decodeKey, encodeKey, type FileDamage, type Progress, verifyFiles } from "@keywright/core";
import type { CheckedFiles, DamagedPlace } from "../../protocol/maintenance.js";
import { catalogOf } from "../../source/catalog.js";
import type { Source, SourceModel } from "../../source/source.js";
import type { WorkOptions } from "./try-rows.js";

/** The first part of the keys of some entries, and what they are. */
interface NamedPlace {
  readonly name: string;
  readonly prefix: Uint8Array;
}

/** Returns null if the database has no files that can be checked. */
export async function checkFiles(
  source: Source,
  { onProgress }: Pick<WorkOptions, "onProgress">,
): Promise<CheckedFiles | null> {
  const { kv, damage } = source;
  const options = {
    onProgress: (progress: Progress) => onProgress({ ...progress, model: "files" }),
  };
  // A database that was opened in spite of damage does not check its files.
  const report = await (damage?.path === undefined
    ? kv.verifyFiles?.(options)
    : verifyFiles(damage.path, options));
  if (report === undefined) return null;
  const { files, bytes, damages } = report;
  const places = damages.length === 0 ? [] : await placesOf(source);
  return { files, bytes, damages: damages.map((one) => damagedPlace(one, places)) };
}

async function placesOf(source: Source): Promise<NamedPlace[]> {
  const places: NamedPlace[] = [];
  for (const each of source.models) places.push(...(await placesOfModel(source, each)));
  return places;
}

async function placesOfModel(
  source: Source,
  { property, model }: SourceModel,
): Promise<NamedPlace[]> {
  const catalog = await catalogOf(source, model).catch(() => null);
  const indexes = model.indexes.map(({ name, prefix }) => {
    const stored = catalog?.indexes[name];
    const place = stored?.place ?? stored?.prefix ?? prefix;
    return { name: `index ${name} of ${property}`, prefix: encodeKey([place]) };
  });
  const rows = encodeKey([catalog?.place ?? model.prefix]);
  return [{ name: `rows of ${property}`, prefix: rows }, ...indexes];
}

function damagedPlace(damage: FileDamage, places: readonly NamedPlace[]): DamagedPlace {
  const { file, offset, reason, firstKey, lastKey } = damage;
  const affected =
    firstKey === undefined || lastKey === undefined
      ? null
      : places.filter(({ prefix }) => hasKeysBetween(prefix, firstKey, lastKey));
  return {
    ...{ file, offset, reason, firstKey: keyOf(firstKey), lastKey: keyOf(lastKey) },
    affected: affected?.map(({ name }) => name) ?? null,
  };
}

/** True if keys that begin with a prefix lie between two encoded keys. */
function hasKeysBetween(prefix: Uint8Array, first: Uint8Array, last: Uint8Array): boolean {
  const isBeforeEnd =
    Buffer.compare(first, prefix) <= 0 ||
    Buffer.compare(first.subarray(0, prefix.length), prefix) === 0;
  return isBeforeEnd && Buffer.compare(last, prefix) >= 0;
}

/** Keys of the database itself, and keys in another order, stay bytes. */
function keyOf(key: Uint8Array | undefined): DamagedPlace["firstKey"] {
  if (key === undefined) return null;
  try {
    return decodeKey(key);
  } catch {
    return key;
  }
}
