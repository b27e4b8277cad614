/** What `run` did with it: `{ threw }`, `{ rejected }` or `{ value }`, as JSON. */
export async function outcomeOf(run, context) {
  let result;
  try {
    result = run(context);
  } catch (error) {
    return { threw: errorAsJson(error) };
  }
  if (!(result instanceof Promise)) return { value: asJson(result) };
  try {
    return { value: asJson(await result) };
  } catch (error) {
    return { rejected: errorAsJson(error) };
  }
}

function errorAsJson(error) {
  if (!(error instanceof Error)) return asJson(error);
  return `${error.constructor.name}: ${error.name}: ${error.message}`;
}

/** Values that JSON has not, as an object with one property that tells what they are. */
function asJson(value) {
  switch (typeof value) {
    case "undefined":
      return { undefined: true };
    case "bigint":
      return { bigint: `${value}` };
    case "number":
      if (!Number.isFinite(value) || Object.is(value, -0))
        return { number: Object.is(value, -0) ? "-0" : `${value}` };
      return value;
    case "string":
      return /^[0-9a-f]{20}$/.test(value) ? "a versionstamp" : value;
    case "symbol":
      return { symbol: String(value) };
    case "function":
      return { function: true };
    case "boolean":
      return value;
    case "object":
      return objectAsJson(value);
  }
}

function objectAsJson(value) {
  if (value === null) return value;
  if (value instanceof Uint8Array) return { bytes: hexOf(value) };
  if (Array.isArray(value)) return value.map(asJson);
  if (/KvU64$/.test(value[Symbol.toStringTag] ?? "")) return { u64: `${value.value}` };
  if (typeof value.commit === "function") return { atomic: true };
  return Object.fromEntries(Object.keys(value).map((name) => [name, asJson(value[name])]));
}

function hexOf(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
