import { ConfigInvalidError } from "../../errors/codegen-errors.js";
import type { Config } from "./config.js";

export type Settings = Pick<
  Config,
  "importExtension" | "database" | "migrations" | "adopt" | "copy" | "seed"
>;

/** A configuration with valid settings. Its paths are as written in the file. */
export interface CheckedConfig extends Settings {
  readonly models: readonly string[];
  readonly output: string;
}

const notADatabase = "it is neither the path or URL of a database nor a function that opens one";

type Fail = (at: string, reason: string) => ConfigInvalidError;

export function checkConfig(path: string, config: unknown): CheckedConfig {
  const fail: Fail = (at, reason) => new ConfigInvalidError({ path, at, reason });
  if (config === undefined) throw fail("default", "there is no default export");
  if (!isObject(config)) throw fail("default", `it is ${kindOf(config)}, not an object`);
  if (typeof config.then === "function") {
    throw fail("default", "it is a promise, so export its result with await");
  }
  const { models, output, importExtension, database, migrations, adopt, copy, seed, ...others } =
    config;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw fail(unknown, "there is no such setting");
  const patterns: readonly unknown[] = Array.isArray(models) ? models : [models];
  if (patterns.length === 0) throw fail("models", "it is an empty list");
  if (!patterns.every(isText)) throw fail("models", "it is not a path or a list of paths");
  if (!isText(output)) throw fail("output", "it is not a path");
  if (![undefined, "js", "ts"].includes(importExtension as string | undefined)) {
    throw fail("importExtension", 'it is neither "js" nor "ts"');
  }
  if (database !== undefined && !isText(database) && typeof database !== "function") {
    throw fail("database", notADatabase);
  }
  checkMigrations(migrations, fail);
  checkAdopt(adopt, fail);
  checkCopy(copy, fail);
  checkSeed(seed, fail);
  const settings = Object.entries({ importExtension, database, migrations, adopt, copy, seed });
  return {
    models: patterns,
    output,
    ...(Object.fromEntries(settings.filter(([, value]) => value !== undefined)) as Settings),
  };
}

function checkMigrations(migrations: unknown, fail: Fail): void {
  if (migrations === undefined) return;
  if (!Array.isArray(migrations)) {
    throw fail("migrations", "it is not a list of results of defineMigration");
  }
  for (const [i, migration] of (migrations as unknown[]).entries()) {
    if (isObject(migration) && typeof migration.up === "function") continue;
    throw fail(`migrations[${i}]`, "it is not a result of defineMigration");
  }
}

function checkAdopt(adopt: unknown, fail: Fail): void {
  if (adopt === undefined) return;
  if (!isObject(adopt)) throw fail("adopt", `it is ${kindOf(adopt)}, not an object`);
  const { from, models, ...others } = adopt;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw fail(`adopt.${unknown}`, "there is no such setting");
  if (from !== undefined && !isText(from) && typeof from !== "function")
    throw fail("adopt.from", notADatabase);
  if (!isObject(models))
    throw fail("adopt.models", "it is not an object with a layout for each model");
  for (const [name, entry] of Object.entries(models)) {
    const layout = isObject(entry) && "layout" in entry ? entry.layout : entry;
    if (isLayout(layout)) continue;
    const reason = "it is not a result of guideLayout, kvdexLayout or pentagonLayout";
    throw fail(`adopt.models.${name}`, reason);
  }
}

function checkCopy(copy: unknown, fail: Fail): void {
  if (copy === undefined) return;
  if (!isObject(copy)) throw fail("copy", `it is ${kindOf(copy)}, not an object`);
  const { from, to, expireIn, ...others } = copy;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw fail(`copy.${unknown}`, "there is no such setting");
  for (const [name, open] of Object.entries({ from, to })) {
    if (open === undefined || isText(open) || typeof open === "function") continue;
    throw fail(`copy.${name}`, notADatabase);
  }
  if (expireIn !== undefined && typeof expireIn !== "function") {
    throw fail("copy.expireIn", "it is not a function of an entry");
  }
}

function isLayout(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { rows, indexes, idOf, entriesOf, ownerOf } = value;
  const functions = [idOf, entriesOf, ownerOf];
  return (
    [rows, indexes].every((keys) => Array.isArray(keys)) &&
    functions.every((each) => typeof each === "function")
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}

/** Checks the setting `seed`, apart from the names of models and fields. */
function checkSeed(seed: unknown, fail: Fail): void {
  if (seed === undefined || typeof seed === "function") return;
  if (!isObject(seed)) throw fail("seed", "it is neither an object nor a function");
  const { rows, models, run, ...others } = seed;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw fail(`seed.${unknown}`, "there is no such setting");
  if (isObject(rows)) {
    for (const [name, count] of Object.entries(rows)) checkCount(`seed.rows.${name}`, count, fail);
  } else if (rows !== undefined) checkCount("seed.rows", rows, fail);
  if (run !== undefined && typeof run !== "function")
    throw fail("seed.run", "it is not a function");
  if (models === undefined) return;
  if (!isObject(models)) throw fail("seed.models", "it is not an object of models");
  for (const [name, fields] of Object.entries(models)) {
    if (!isObject(fields)) throw fail(`seed.models.${name}`, "it is not an object of fields");
  }
}

function checkCount(at: string, count: unknown, fail: Fail): void {
  if (Number.isSafeInteger(count) && (count as number) >= 0) return;
  throw fail(at, "it is not a whole number of rows");
}
