import { encodeKey, type KeyOrder, type KvKeyPart } from "@keywright/core";
import { Buffer } from "@keywright/core/platform";
import { InvalidQueryError } from "../../../errors/query-errors.js";
import type { CompiledModel } from "../../../model/compiled-model.js";
import type { FieldCondition } from "../fields/field-condition.js";
import type { KeyField } from "../fields/key-fields.js";
import { intervalOf, type KeyInterval } from "./key-interval.js";
import type { Segment } from "./query-plan.js";

/** The maximum number of ranges that a query reads. */
export const maxSegments = 1000;

interface Pinned {
  readonly parts: readonly KvKeyPart[];
  readonly values: readonly unknown[];
}

interface Choice {
  readonly part: KvKeyPart;
  readonly value: unknown;
}

/** Returns one segment for each combination of values, in key order, without duplicates. */
export function segmentsOf(
  model: CompiledModel,
  fields: readonly KeyField[],
  conditions: ReadonlyMap<string, FieldCondition>,
): Segment[] {
  let pinned: Pinned[] = [{ parts: [], values: [] }];
  let interval: KeyInterval = {};
  for (const field of fields) {
    if (field.sameAs !== undefined) {
      const { sameAs } = field;
      if ((pinned[0]?.values.length ?? 0) <= sameAs) break;
      pinned = pinned.map(({ parts, values }) => {
        const value = values[sameAs];
        return { parts: [...parts, field.partOf(value)], values: [...values, value] };
      });
      continue;
    }
    const condition = conditions.get(field.name);
    if (condition === undefined) break;
    const fail = (reason: string): never => {
      throw new InvalidQueryError(model.name, field.name, reason);
    };
    if (condition.has || field.isElement) assertFits(field, condition.has, fail);
    if (condition.values === undefined) {
      interval = intervalOf(field, condition.bounds, fail);
      break;
    }
    const choices = choicesOf(field, condition.values, model.keyOrder);
    if (pinned.length * choices.length > maxSegments) {
      fail(`the values of in combine to more than ${maxSegments} ranges; pass fewer values`);
    }
    const combined: Pinned[] = [];
    for (const { parts, values } of pinned) {
      for (const { part, value } of choices)
        combined.push({ parts: [...parts, part], values: [...values, value] });
    }
    pinned = combined;
  }
  const segments: Segment[] = [];
  for (const { parts } of pinned) segments.push({ equals: parts, interval });
  return segments;
}

export function assertFits(
  { isElement, isComputed }: Pick<KeyField, "isElement" | "isComputed">,
  has: boolean,
  fail: (reason: string) => never,
): void {
  if (has && !isElement) fail("has needs an array whose index has each: true");
  if (isElement && !has && !isComputed) fail("it is an array; ask for an element with { has: … }");
}

function choicesOf(
  field: KeyField,
  values: readonly unknown[],
  order: KeyOrder,
): readonly Choice[] {
  const choices: Choice[] = [];
  for (const value of values) choices.push({ part: field.partOf(value), value });
  if (choices.length < 2) return choices;
  const sorted = choices
    .map((choice) => ({ ...choice, bytes: encodeKey([choice.part], order) }))
    .sort((a, b) => Buffer.compare(a.bytes, b.bytes));
  return sorted.filter(({ bytes }, i) => {
    const previous = sorted[i - 1];
    return previous === undefined || Buffer.compare(previous.bytes, bytes) !== 0;
  });
}
