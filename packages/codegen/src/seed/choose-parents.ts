import { SeedReferenceError } from "../errors/seed-errors.js";
import type { AnyRow, Parents, Reference, SeedModel } from "./seed-model.js";
import { absentValue } from "./values/absent-value.js";
import type { Fakes } from "./values/fakes.js";

/** How often an optional reference is empty. */
const absence = 0.15;

/** The references of one row: a starting point, from which each attempt goes to the next rows. */
export interface ChosenParents {
  /**
   * Returns the fields of the references. Undefined if references share a field, such as that of a
   * tenant, and no rows of this combination have the same value of it.
   */
  fieldsAt(attempt: number): AnyRow | undefined;
  /** The last reference that shares fields with others. Undefined if none does. */
  readonly sharing: Reference | undefined;
  readonly combinations: number;
}

/**
 * Chooses the rows to which a row refers. Attempts go through all combinations, so that the last
 * free one is found if the reference is unique.
 *
 * @throws {SeedReferenceError} if a required reference has no row to lead to.
 */
export function chooseParents(
  { model, references, fields: given }: SeedModel,
  parents: Parents,
  { faker }: Fakes,
  properties: ReadonlyMap<string, string>,
): ChosenParents {
  const empty: Record<string, unknown> = {};
  const chosen: { readonly reference: Reference; readonly rows: readonly AnyRow[] }[] = [];
  for (const reference of references) {
    const { fields, target, isOptional } = reference;
    if (fields.every((field) => Object.hasOwn(given, field))) continue;
    const rows = parents.get(target) ?? [];
    if (rows.length === 0 && !isOptional) {
      const property = properties.get(target) ?? target;
      throw new SeedReferenceError({
        model: model.name,
        fields,
        target: { model: target, property },
      });
    }
    if (rows.length === 0 || (isOptional && faker.number.float() < absence)) {
      for (const field of fields) {
        const absent = absentValue(model.schema.shape[field]!);
        if (absent !== undefined) empty[field] = absent.value;
      }
    } else chosen.push({ reference, rows });
  }
  // Values that the configuration gives. A function is called later, with the rest of the row.
  const fixed = Object.fromEntries(
    chosen.flatMap(({ reference }) =>
      reference.fields.flatMap((field) => {
        const isFixed = Object.hasOwn(given, field) && typeof given[field] !== "function";
        return isFixed ? [[field, given[field]] as const] : [];
      }),
    ),
  );
  const combinations = chosen.reduce((product, { rows }) => product * rows.length, 1);
  const start = faker.number.int({ min: 0, max: Math.max(0, combinations - 1) });
  const fieldsAt = (attempt: number) => {
    let position = (start + attempt) % combinations;
    const fields: Record<string, unknown> = { ...fixed };
    for (const { reference, rows } of chosen) {
      const fitting = fittingRows(reference, rows, fields);
      const row = fitting[position % fitting.length];
      if (row === undefined) return undefined;
      position = Math.floor(position / rows.length);
      for (const [i, field] of reference.fields.entries())
        fields[field] = row[reference.targetKey[i]!];
    }
    return { ...empty, ...fields };
  };
  const named = Object.keys(fixed);
  let sharing: Reference | undefined;
  for (const { reference } of chosen) {
    if (reference.fields.some((field) => named.includes(field))) sharing = reference;
    named.push(...reference.fields);
  }
  return { fieldsAt, combinations, sharing };
}

/** Returns the rows to which a reference can lead if some of its fields have values already. */
function fittingRows(
  { fields, targetKey }: Reference,
  rows: readonly AnyRow[],
  values: AnyRow,
): readonly AnyRow[] {
  const shared = [...fields.entries()].filter(([, field]) => Object.hasOwn(values, field));
  if (shared.length === 0) return rows;
  const isSame = (row: AnyRow) =>
    shared.every(([i, field]) => String(row[targetKey[i]!]) === String(values[field]));
  return rows.filter(isSame);
}
