const cases = new Map();

/**
 * Adds calls under a common name. Each is a function of `{ kv, KvU64 }` that makes one call. If
 * there is `given`, it is awaited first.
 */
export function group(name, calls, given) {
  for (const [call, run] of Object.entries(calls)) {
    const title = `${name}: ${call}`;
    if (cases.has(title)) throw new Error(`there are two cases of the name "${title}"`);
    cases.set(title, { given, run });
  }
}

/** All cases by name. */
export function allCases() {
  return cases;
}
