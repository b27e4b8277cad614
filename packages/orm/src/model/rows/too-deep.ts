import * as z from "zod";
import { ownIssue } from "../../errors/row-issue.js";

/** Zod can check values of this depth with any schema, also if the caller's stack is deep. */
const safeDepth = 500;

/**
 * Returns the issue of a value whose check has exceeded the stack because it is nested too deep.
 *
 * @throws the error if it has another cause.
 */
export function tooDeep(value: unknown, error: unknown): z.ZodSafeParseError<unknown> {
  if (!(error instanceof RangeError) || !isDeep(value)) throw error;
  const message = "it is nested too deep for its schema";
  const issue: z.core.$ZodIssueCustom = { code: "custom", path: [], message, params: ownIssue };
  return { success: false, error: new z.ZodError([issue]) };
}

/** Walks a value level by level, without recursion. */
function isDeep(value: unknown): boolean {
  const seen = new Set<object>();
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > safeDepth) return true;
    const next: unknown[] = [];
    for (const each of level) {
      if (typeof each !== "object" || each === null || seen.has(each)) continue;
      seen.add(each);
      for (const part of partsOf(each)) next.push(part);
    }
    level = next;
  }
  return false;
}

function partsOf(value: object): Iterable<unknown> {
  if (value instanceof Map) return [...value.keys(), ...value.values()];
  if (value instanceof Set) return value;
  return ArrayBuffer.isView(value) ? [] : Object.values(value);
}
