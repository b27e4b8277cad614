import { SeedReferenceError } from "../errors/seed-errors.js";
import type { SeedModel } from "./seed-model.js";

/**
 * Returns models in an order in which the rows that a row refers to exist before it. If models
 * refer to each other, an optional reference of one of them comes too early and stays empty.
 *
 * @throws {SeedReferenceError} if models refer to each other, and none of them optionally.
 */
export function orderModels(models: readonly SeedModel[]): SeedModel[] {
  const open = new Map(models.map((each) => [each.model.name, each]));
  const ordered: SeedModel[] = [];
  while (open.size > 0) {
    const all = [...open.values()];
    const next =
      all.find((each) => waitsFor(each, open, false) === undefined) ??
      all.find((each) => waitsFor(each, open, true) === undefined);
    if (next === undefined) {
      const [first] = all;
      const { fields, target } = waitsFor(first!, open, true)!;
      const { property } = open.get(target)!;
      throw new SeedReferenceError({
        model: first!.model.name,
        fields,
        target: { model: target, property },
      });
    }
    ordered.push(next);
    open.delete(next.model.name);
  }
  return ordered;
}

/** Returns a reference to a model without rows yet. A reference to the own model waits for none. */
function waitsFor(
  { model, references, fields: given }: SeedModel,
  open: ReadonlyMap<string, SeedModel>,
  isRequiredOnly: boolean,
) {
  return references.find(
    ({ target, isOptional, fields }) =>
      target !== model.name &&
      open.has(target) &&
      !(isRequiredOnly && isOptional) &&
      !fields.every((field) => Object.hasOwn(given, field)),
  );
}
