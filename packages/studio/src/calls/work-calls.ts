import type { JobInfo, StoredJobs } from "@keywright/orm";
import type { FailedJob } from "../protocol/work.js";
import type { Source } from "../source/source.js";
import { jobsOf } from "../source/work.js";
import type { CallsOf } from "./calls-of.js";

const jobsAtOnce = 50;

/** The calls about failed jobs. */
export function workCalls(source: Source): CallsOf<"failedJobs" | "retryJobs" | "discardJobs"> {
  const named = async (name: string): Promise<StoredJobs | undefined> =>
    (await jobsOf(source))?.named(name);
  return {
    failedJobs: async ({ name, cursor }) => {
      const page = await (await named(name))?.failed({ take: jobsAtOnce, cursor });
      return { items: page?.items.map(failedJob) ?? [], cursor: page?.cursor ?? null };
    },
    retryJobs: async ({ name, id }) =>
      (await (await named(name))?.retry(id ?? { all: true })) ?? { count: 0, skipped: 0 },
    discardJobs: async ({ name, id }) =>
      (await (await named(name))?.discard(id ?? { all: true })) ?? { count: 0 },
  };
}

function failedJob({ id, payload, attempts, enqueuedAt, failure }: JobInfo): FailedJob {
  return {
    ...{ id, payload, attempts, enqueuedAt, failedAt: failure?.at ?? null },
    error: failure === null ? "" : `${failure.code ?? failure.name}: ${failure.message}`,
  };
}
