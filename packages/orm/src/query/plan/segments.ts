import { Buffer } from "node:buffer";
import { encodeKey, type KeyOrder, type KvKeyPart, specificationOrder } from "@keywright/core";
import { InvalidQueryError } from "../../errors/query-errors.js";
import type { CompiledModel } from "../../model/compiled-model.js";
import type { Condition } from "./condition.js";
import type { KeyField } from "./key-fields.js";
import { intervalOf, type KeyInterval } from "./key-interval.js";
import type { Segment } from "./query-plan.js";

/** The most stretches of an index that one query reads. */
const maxSegments = 1000;

/** What the first fields of a segment's keys are: as they stand in the key, and as the query has them. */
interface Pinned {
  readonly parts: readonly KvKeyPart[];
  readonly values: readonly unknown[];
}

/** What stands in keys for a value of a query. */
interface Choice {
  readonly part: KvKeyPart;
  readonly value: unknown;
}

/**
 * The stretches of an index that conditions on its first fields mean: one for each combination of values, in the order of
 * the keys, none of them twice.
 *
 * @throws {InvalidQueryError} for more than {@link maxSegments}, or a condition that does not fit its field.
 */
export function segmentsOf(
  model: CompiledModel,
  fields: readonly KeyField[],
  conditions: ReadonlyMap<string, Condition>,
  order: () => KeyOrder,
): Segment[] {
  let pinned: Pinned[] = [{ parts: [], values: [] }];
  let interval: KeyInterval = {};
  for (const field of fields) {
    if (field.sameAs !== undefined) {
      const { sameAs } = field;
      if ((pinned[0]?.values.length ?? 0) <= sameAs) break;
      pinned = pinned.map((one) =>
        extended(one, { part: field.partOf(one.values[sameAs]), value: one.values[sameAs] }),
      );
      continue;
    }
    const condition = conditions.get(field.name);
    if (condition === undefined) break;
    const fail = (reason: string): never => {
      throw new InvalidQueryError(model.name, field.name, reason);
    };
    assertFits(field, condition.has, fail);
    if (condition.values === undefined) {
      interval = intervalOf(field, condition.bounds, fail);
      break;
    }
    const choices = choicesOf(field, condition.values, order);
    if (pinned.length * choices.length > maxSegments) {
      fail(`its values combine with others to more than ${maxSegments} places to look`);
    }
    pinned = pinned.flatMap((one) => choices.map((choice) => extended(one, choice)));
  }
  return pinned.map(({ parts }) => ({ equals: parts, interval }));
}

function extended({ parts, values }: Pinned, { part, value }: Choice): Pinned {
  return { parts: [...parts, part], values: [...values, value] };
}

/** Refuses a condition on a whole array, and one on the elements of what is none. */
export function assertFits(
  { isElement, isComputed }: Pick<KeyField, "isElement" | "isComputed">,
  has: boolean,
  fail: (reason: string) => never,
): void {
  if (has && !isElement) fail("has is for arrays whose index has an entry for each element");
  if (isElement && !has && !isComputed) fail("it is an array: ask for an element, { has: … }");
}

/** The key parts of values, in the order of the keys and each once. */
function choicesOf(
  field: KeyField,
  values: readonly unknown[],
  order: () => KeyOrder,
): readonly Choice[] {
  const choices = values.map((value) => ({ part: field.partOf(value), value }));
  if (choices.length < 2) return choices;
  const types = new Set(choices.map(({ part }) => typeof part));
  const own = types.has("number") && types.has("bigint") ? order() : specificationOrder;
  const sorted = choices
    .map((choice) => ({ ...choice, bytes: encodeKey([choice.part], own) }))
    .sort((a, b) => Buffer.compare(a.bytes, b.bytes));
  return sorted.filter(({ bytes }, i) => {
    const before = sorted[i - 1];
    return before === undefined || Buffer.compare(before.bytes, bytes) !== 0;
  });
}
