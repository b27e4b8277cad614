import {
  decodeKey,
  encodeKey,
  isKeywrightError,
  type KvKey,
  type KvKeyPart,
} from "@keywright/core";
import { Buffer, createHash } from "@keywright/core/platform";
import { InvalidCursorError } from "../../../errors/query-errors.js";
import { findSegment, type Plan, plansIn, type QueryPlan } from "./query-plan.js";

const cursorFormat = 2;

/** The length in bytes of the digest at the start of a cursor. */
const digestBytes = 12;

/**
 * Returns a cursor with which the same query continues after a key, in URL-safe base64. It consists
 * of a digest of the plan and the key, followed by the key without its first part, which the plan
 * knows.
 */
export function encodeCursor(plan: Plan, key: KvKey): string {
  const bytes = encodeKey(key.slice(1));
  return Buffer.concat([digestOf(plan, bytes), bytes]).toString("base64url");
}

export interface ResumedPlan {
  readonly plan: Plan;
  readonly after: KvKey;
}

export function resumePlan(plans: readonly Plan[], cursor: string): ResumedPlan {
  const model = plans[0]?.model.name ?? "";
  if (typeof cursor !== "string") throw new InvalidCursorError(model, String(cursor));
  const bytes = Buffer.from(cursor, "base64url");
  if (bytes.length > digestBytes && bytes.toString("base64url") === cursor) {
    const digest = bytes.subarray(0, digestBytes);
    const keyBytes = bytes.subarray(digestBytes);
    for (const plan of plans) {
      if (!digestOf(plan, keyBytes).equals(digest)) continue;
      const parts = decodedKey(keyBytes);
      if ("merged" in plan) {
        if (parts.length > 0) return { plan, after: [plan.model.place, ...parts] };
        continue;
      }
      const after = [plan.index?.place ?? plan.model.place, ...parts];
      if (findSegment(plan, after) >= 0) return { plan, after };
    }
  }
  throw new InvalidCursorError(model, cursor);
}

function decodedKey(bytes: Uint8Array): KvKeyPart[] {
  try {
    return [...decodeKey(bytes)];
  } catch (error) {
    if (isKeywrightError(error)) return [];
    throw error;
  }
}

function digestOf(plan: Plan, key: Uint8Array): Buffer {
  const { id } = plan.related ?? {};
  const parts: KvKeyPart[] = [];
  for (const each of plansIn(plan)) addPartsOfPlan(parts, each);
  const bytes = encodeKey(id === undefined ? parts : [...parts, id]);
  const hash = createHash("sha256").update(`${bytes.length}:`).update(bytes).update(key);
  return hash.digest().subarray(0, digestBytes);
}

function addPartsOfPlan(parts: KvKeyPart[], plan: QueryPlan): void {
  parts.push(cursorFormat, definitionOf(plan), plan.reverse);
  // The length of each list is included, so that different segments never give the same parts.
  for (const { equals, interval } of plan.segments) {
    const { start, end, type = "" } = interval;
    parts.push(equals.length, ...equals, type, start !== undefined, end !== undefined);
    if (start !== undefined) parts.push(start);
    if (end !== undefined) parts.push(end);
  }
}

const definitions = new WeakMap<object, string>();

function definitionOf({ model, index }: QueryPlan): string {
  const owner = index ?? model;
  let definition = definitions.get(owner);
  if (definition === undefined) {
    const { name, primaryKey } = model;
    const indexDefinition = index && [
      index.name,
      index.prefix,
      index.parts.map(({ field, descending, descendingOrder }) => {
        return { descending, descendingOrder, field };
      }),
      index.each,
      index.unique,
    ];
    definition = JSON.stringify([name, primaryKey, indexDefinition ?? null]);
    definitions.set(owner, definition);
  }
  return definition;
}
