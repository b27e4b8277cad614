import { checksOf, type Definition, isDeep, type Place, placeIn, type Schema } from "./place.js";
import { UnfillableError } from "./unfillable-error.js";

export type Generate = (schema: Schema, place: Place) => unknown;

/** The number of elements above the minimum, if the schema has no maximum. */
const spread = 3;
/** How often a value is generated that a set or map already has, before it stays smaller. */
const maxRepeats = 50;

export function arrayValue(def: Definition, place: Place, generate: Generate): unknown[] {
  const length = sizeOf(def, place);
  return Array.from({ length }, (_, i) => generate(def.element!, placeIn(place, i)));
}

export function tupleValue(def: Definition, place: Place, generate: Generate): unknown[] {
  const { items = [], rest } = def;
  const values = items.map((item, i) => generate(item, { ...placeIn(place, i), isPresent: true }));
  const more = rest && !isDeep(place) ? place.fakes.faker.number.int({ min: 0, max: 2 }) : 0;
  for (let i = 0; i < more; i++) values.push(generate(rest!, placeIn(place, items.length + i)));
  return values;
}

export function setValue(def: Definition, place: Place, generate: Generate): Set<unknown> {
  const size = sizeOf(def, place);
  const set = new Set<unknown>();
  for (let i = 0; set.size < size && i < size + maxRepeats; i++) {
    set.add(generate(def.valueType!, again(placeIn(place, i), i)));
  }
  return set;
}

export function mapValue(def: Definition, place: Place, generate: Generate): Map<unknown, unknown> {
  const size = sizeOf(def, place);
  const map = new Map<unknown, unknown>();
  for (let i = 0; map.size < size && i < size + maxRepeats; i++) {
    const within = again(placeIn(place, i), i);
    map.set(generate(def.keyType!, within), generate(def.valueType!, within));
  }
  return map;
}

export function recordValue(
  def: Definition,
  place: Place,
  generate: Generate,
): Record<string, unknown> {
  const { keyType, valueType, partial } = def;
  const names = keyType!._zod.values;
  const record: Record<string, unknown> = {};
  if (names !== undefined && partial !== true) {
    for (const name of names) {
      const key = String(name);
      const value = generate(valueType!, { ...placeIn(place, key), isPresent: true });
      record[key] = value;
    }
    return record;
  }
  const size = sizeOf(def, place);
  for (let i = 0; Object.keys(record).length < size && i < size + maxRepeats; i++) {
    const key = String(generate(keyType!, again(placeIn(place, i), i)));
    const value = generate(valueType!, placeIn(place, key));
    if (value !== undefined) record[key] = value;
  }
  return record;
}

export function objectValue(
  def: Definition,
  place: Place,
  generate: Generate,
): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(def.shape ?? {})) {
    const value = generate(schema, placeIn(place, name));
    if (value !== undefined || !mayBeMissing(schema)) object[name] = value;
  }
  return object;
}

/** True if an object may lack the field. A field of `z.undefined()` has to be there. */
export function mayBeMissing(schema: Schema): boolean {
  return schema._zod.optin === "optional";
}

/** Makes values more varied after the first ones, because equal ones count once. */
function again(place: Place, i: number): Place {
  return i < spread ? place : { ...place, attempt: place.attempt + i - spread + 1 };
}

function sizeOf(def: Definition, place: Place): number {
  let [min, max] = [0, Number.POSITIVE_INFINITY];
  for (const { check, minimum = 0, maximum = max, length, size } of checksOf(def)) {
    if (check === "min_length" || check === "min_size") min = Math.max(min, minimum);
    else if (check === "max_length" || check === "max_size") max = Math.min(max, maximum);
    else if (check === "length_equals" || check === "size_equals") {
      [min, max] = [length ?? size ?? 0, length ?? size ?? 0];
    }
  }
  if (min > max) throw new UnfillableError(place.path, "its minimum size is above its maximum");
  if (isDeep(place)) return min;
  const first = Math.max(min, Math.min(1, max));
  const last = Math.min(max, min + spread);
  // A refinement may ask for another size.
  const low = place.attempt > 0 ? min : first;
  return place.fakes.faker.number.int({ min: low, max: Math.max(low, last) });
}
