import { ScopeError } from "../errors/scope-error.js";
import { isPlainObject } from "../model/is-plain-object.js";
import { keyPartOf } from "../model/keys/key-parts.js";
import { keyText } from "../model/keys/key-text.js";
import { type Scope, withScopeValues } from "../state/context/scope.js";
import type { TableContext } from "../state/context/table-context.js";
import type { CompiledJob } from "./define/define-job.js";
import { queueOf } from "./job-queue.js";
import type { EnqueueManyOptions, EnqueueOptions, ScopedJobQueue } from "./job-types.js";

/** The methods of jobs that a scope does not have. */
const unscoped = ["get", "list", "failed", "counts", "retry", "discard", "cancel"];

/**
 * Returns `jobs` of a scope. A job is a row of no scope, so jobs of a scope can only be enqueued.
 *
 * @param context the table of jobs within the scope.
 */
export function scopedQueues(
  context: TableContext,
  jobs: ReadonlyMap<string, CompiledJob>,
): Readonly<Record<string, unknown>> {
  const scope = scopeOf(context);
  const queues = [...jobs].map(([name, job]) => [name, scopedQueueOf(context, job, scope)]);
  return Object.freeze({
    ...Object.fromEntries(queues),
    ...refusing(context, "jobs", ["stored", "named"]),
  });
}

function scopedQueueOf(context: TableContext, job: CompiledJob, scope: Scope): ScopedJobQueue {
  const queue = queueOf(context, job);
  const keyWithin = (unique: unknown) => uniqueWithin(scope, unique) as string;
  return Object.freeze({
    ...refusing(context, `jobs.${job.name}`, unscoped),
    name: job.name,
    enqueue: async (payload: unknown, options: EnqueueOptions = {}) => {
      const keyed = isPlainObject(options) && "unique" in options;
      const { unique } = options;
      const within = keyed ? { ...options, unique: keyWithin(unique) } : options;
      return await queue.enqueue(payloadWithin(scope, job, payload), within);
    },
    enqueueMany: async (
      payloads: readonly unknown[],
      { unique, ...options }: EnqueueManyOptions<never> = {},
    ) => {
      const filled = Array.isArray(payloads)
        ? payloads.map((payload) => payloadWithin(scope, job, payload))
        : payloads;
      const isKeyed = typeof unique === "function";
      const keyOf = isKeyed ? (payload: never) => keyWithin(unique(payload)) : unique;
      return await queue.enqueueMany(filled, { ...options, unique: keyOf as never });
    },
  });
}

/** The values of the scope, which each of its tables has. */
function scopeOf({ tables }: TableContext): Scope {
  for (const { scope, isOutside } of tables.values())
    if (scope !== undefined && !isOutside) return scope;
  return {};
}

/** Returns a payload with those values of the scope whose fields its schema has. */
function payloadWithin(scope: Scope, { name, schema }: CompiledJob, payload: unknown): unknown {
  const { type, shape } = schema._zod.def as { type: string; shape?: Record<string, unknown> };
  if (type !== "object" || shape === undefined || !isPlainObject(payload)) return payload;
  const known = Object.entries(scope).filter(([field]) => Object.hasOwn(shape, field));
  const scoped = { model: { name: `jobs.${name}` }, scope: Object.fromEntries(known) };
  return withScopeValues(scoped, payload as Readonly<Record<string, unknown>>);
}

/** Returns a unique key that no other scope has. What is not valid is refused later. */
function uniqueWithin(scope: Scope, unique: unknown): unknown {
  if (typeof unique !== "string" || unique === "") return unique;
  const fields = Object.keys(scope).sort();
  return keyText([...fields.flatMap((field) => [field, keyPartOf(scope[field])!]), unique]);
}

function refusing(
  context: TableContext,
  jobs: string,
  names: readonly string[],
): Readonly<Record<string, () => never>> {
  const refusals = names.map((name) => [name, () => assertUnscoped(context, `${jobs}.${name}`)]);
  return Object.fromEntries(refusals) as Readonly<Record<string, () => never>>;
}

/** @throws {ScopeError} if the table of jobs is that of a scope. */
export function assertUnscoped({ isOutside }: TableContext, call: string): void {
  if (!isOutside) return;
  const reason = "jobs of a scope can only be enqueued; call it on the database itself";
  throw new ScopeError("", call, reason);
}
