import { JobDefinitionError } from "../errors/job-errors.js";
import { InvalidArgumentError } from "../errors/query-errors.js";
import type { TableContext } from "../state/context/table-context.js";
import { type AnyJobs, type CompiledJob, compileJob, isJob } from "./define/define-job.js";
import { queueOf, storedJobsOf } from "./job-queue.js";
import type { StoredJobs, StoredTopic } from "./job-types.js";
import { countTopics } from "./manage.js";
import { scopedQueues } from "./scoped-queue.js";
import { jobModel } from "./store/job-model.js";

/** The compiled definitions of a database, by the names that the program uses for them. */
export type CompiledJobs = ReadonlyMap<string, CompiledJob>;

/** Names that jobs cannot have in the program. */
const ownNames: readonly string[] = ["stored", "named", "__proto__"];

/**
 * Compiles the jobs of a program.
 *
 * @throws {JobDefinitionError} if a definition or a name is not valid, or if two have the same
 * name.
 */
export function compileJobs(jobs: AnyJobs): CompiledJobs {
  const compiled = new Map<string, CompiledJob>();
  const names = new Set<string>();
  for (const [name, job] of Object.entries<unknown>(jobs)) {
    if (!isJob(job))
      throw new JobDefinitionError(name, "job", "it must be what defineJob returned");
    if (ownNames.includes(name))
      throw new JobDefinitionError(
        job.name,
        "name",
        `jobs has a property ${name}; name it otherwise`,
      );
    if (names.has(job.name))
      throw new JobDefinitionError(
        job.name,
        "name",
        "another job has this name; rename one of them",
      );
    names.add(job.name);
    compiled.set(name, compileJob(job));
  }
  return compiled;
}

/** Returns `jobs` of a database, of a transaction or of a scope, by their tables. */
export function jobQueues(
  tables: ReadonlyMap<string, TableContext>,
  jobs: CompiledJobs,
): Readonly<Record<string, unknown>> {
  const context = tables.get(jobModel.name)!;
  if (context.isOutside) return scopedQueues(context, jobs);
  const queues = [...jobs].map(([name, job]) => [name, queueOf(context, job)] as const);
  const known = new Set([...jobs.values()].map((job) => job.name));
  const stored = async (): Promise<StoredTopic[]> => {
    const counts = await countTopics(context);
    return [...counts].map(([name, of]) => ({ name, ...of, isKnown: known.has(name) }));
  };
  const named = (name: string): StoredJobs => {
    if (typeof name !== "string" || name === "")
      throw new InvalidArgumentError("", "name", "it must be the name of a job", "jobs.named");
    return Object.freeze(storedJobsOf(context, name));
  };
  return Object.freeze({ ...Object.fromEntries(queues), stored, named });
}
