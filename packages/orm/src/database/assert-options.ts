import { optionAdvice } from "../errors/option-advice.js";
import { InvalidArgumentError } from "../errors/query-errors.js";
import { isModel } from "../model/define-model.js";
import { isPlainObject } from "../model/is-plain-object.js";
import type { RowMigration } from "../state/schema/define-migration.js";
import type { DatabaseOptions } from "./database-options.js";

/** The options as a program without types may pass them. */
interface UntypedOptions {
  readonly kv?: unknown;
  readonly models?: unknown;
  readonly readOnly?: unknown;
  readonly hooks?: object | undefined;
  readonly migrations?: unknown;
  readonly onQuery?: unknown;
  readonly jobTracing?: unknown;
  readonly middleware?: unknown;
  readonly jobs?: unknown;
}

const optionNames: Readonly<Record<keyof DatabaseOptions<never> | "kv" | "models", true>> = {
  kv: true,
  models: true,
  maxReads: true,
  validateReads: true,
  readOnly: true,
  migrations: true,
  hooks: true,
  jobs: true,
  middleware: true,
  onQuery: true,
  jobTracing: true,
};

const noTracing = { current: () => null, run: () => null };

/**
 * @throws {InvalidArgumentError} if an option is missing, unknown or not valid. The error names no
 * model.
 */
export function assertOptions(options: UntypedOptions): void {
  const fail = (argument: string, reason: string): never => {
    throw new InvalidArgumentError("", argument, reason, "createDatabase");
  };
  if (typeof options !== "object" || options === null) fail("argument", "it must be an object");
  const { kv, models, hooks, migrations = [], onQuery, middleware = [], jobs = {} } = options;
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(optionNames, name)) continue;
    fail(name, `there is no such option; ${optionAdvice(name, Object.keys(optionNames))}`);
  }
  if (!["undefined", "boolean"].includes(typeof options.readOnly))
    fail("readOnly", "it must be true or false");
  const isKv = typeof kv === "object" && kv !== null && "atomic" in kv;
  if (kv instanceof Promise) fail("kv", "it is a promise; write kv: await openKv(…)");
  if (!isKv) fail("kv", "it must be a database that openKv or Deno.openKv has opened");
  if (typeof models !== "object" || models === null || Array.isArray(models)) {
    fail("models", "it has to be an object: { users: User }");
  }
  for (const [name, model] of Object.entries(models as object)) {
    if (!isModel(model)) fail(`models.${name}`, "it has to be what defineModel returned");
  }
  if (!isPlainObject(jobs)) fail("jobs", "it has to be an object: { sendMail: SendMail }");
  for (const name of Object.keys(hooks ?? {})) {
    if (!Object.hasOwn(models as object, name)) fail(`hooks.${name}`, "there is no such model");
  }
  if (!Array.isArray(migrations)) fail("migrations", "it has to be a list");
  for (const [position, migration] of (migrations as readonly RowMigration[]).entries()) {
    const at = `migrations[${position}]`;
    if (typeof migration?.up !== "function") fail(at, "it has to be what defineMigration returned");
  }
  if (onQuery !== undefined && typeof onQuery !== "function") {
    fail("onQuery", "it has to be a function");
  }
  const { current, run } = (options.jobTracing ?? noTracing) as Readonly<Record<string, unknown>>;
  if (typeof current !== "function" || typeof run !== "function")
    fail("jobTracing", "it has to be what traceJobs returned");
  for (const each of Array.isArray(middleware) ? middleware : [middleware]) {
    if (typeof each !== "function")
      fail("middleware", "it has to be a function, or a list of them");
  }
}
