type Fail = (at: string, reason: string) => Error;

/** Checks the setting `seed`, apart from the names of models and fields. */
export function checkSeed(seed: unknown, fail: Fail): void {
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

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
