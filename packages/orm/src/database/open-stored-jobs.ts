import type { Kv, KvLike } from "@keywright/core";
import type { JobQueues } from "../jobs/job-types.js";
import { jobModel } from "../jobs/store/job-model.js";
import { compileModel } from "../model/compile-model.js";
import { capabilitiesOf } from "../state/catalog/capabilities-of.js";
import { catalogKey } from "../state/catalog/catalog-entry.js";
import { createDatabase } from "./create-database.js";

/**
 * Opens the jobs of a database without their definitions, and writes nothing.
 *
 * @returns undefined if no program has opened the database with jobs.
 */
export async function openStoredJobs(
  kv: KvLike,
): Promise<JobQueues<Record<never, never>> | undefined> {
  const { keyOrder } = capabilitiesOf(kv as Kv);
  const { versionstamp } = await kv.get(catalogKey(compileModel(jobModel, keyOrder)));
  if (versionstamp === null) return undefined;
  return (await createDatabase({ kv, models: {}, jobs: {} })).jobs;
}
