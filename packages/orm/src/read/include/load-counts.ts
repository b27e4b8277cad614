import { knownNames } from "../../errors/nearest-name.js";
import { InvalidArgumentError } from "../../errors/query-errors.js";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import { isPlainObject } from "../../model/is-plain-object.js";
import type { LinkedRelation } from "../../model/relations/linked-relations.js";
import type { AnyInclude } from "../../state/context/any-query.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import type { ReadView } from "../../state/context/read-view.js";
import type { RelatedModel } from "../../state/context/table-context.js";
import { countEach } from "../aggregate/count-each.js";
import { assertWhere, countsName, referringFields } from "./include-query.js";

/** A relation whose rows are counted, with the conditions on them. */
interface CountedRelation {
  readonly link: LinkedRelation;
  readonly where: AnyRow;
}

/**
 * Returns the relations that an `include` counts: `{ _count: { posts: true } }`, or only some of
 * their rows: `{ _count: { posts: { where: { isPublic: true } } } }`.
 *
 * @throws {InvalidArgumentError} if a name is not that of a relation with many rows, or if a
 * condition names the fields of the relation.
 */
export function countedRelations(
  { model, links, scope, tables }: RelatedModel,
  include: AnyInclude,
): CountedRelation[] {
  const names: unknown = links.relations.has(countsName) ? undefined : include[countsName];
  if (names === undefined || names === false) return [];
  const path = `include.${countsName}`;
  const fail = (place: string, reason: string): never => {
    throw new InvalidArgumentError(model.name, place, reason);
  };
  if (!isPlainObject(names)) return fail(path, "it must be an object, such as { posts: true }");
  const countable = [...links.relations.values()].filter(({ relation }) =>
    ["hasMany", "manyToMany"].includes(relation.kind),
  );
  return Object.entries(names).flatMap(([name, option]) => {
    const link = countable.find((each) => each.name === name);
    if (scope !== undefined && link && tables.get(countedModel(link).name)?.isOutside)
      fail(
        `${path}.${name}`,
        `${countedModel(link).name} lacks the fields of the scope; count it without the scope`,
      );
    if (link === undefined) {
      const known = countable.map((each) => each.name);
      const advice = knownNames(name, known, "relations with many rows");
      return fail(`${path}.${name}`, `${model.name} has no such relation; ${advice}`);
    }
    if (option === false || option === undefined) return [];
    if (option === true) return [{ link, where: {} }];
    if (!isPlainObject(option)) return fail(`${path}.${name}`, "it must be true, or have a where");
    const { where, ...others } = option as { readonly where?: AnyRow };
    for (const other of Object.keys(others))
      fail(`${path}.${name}.${other}`, "there is no such option; the only one is where");
    assertWhere(link.relation, where, (place, reason) => fail(`${path}.${name}.${place}`, reason));
    return [{ link, where: where ?? {} }];
  });
}

/** Returns the model whose rows are counted: those that refer to the row, or the rows between. */
export function countedModel({ relation, target, through }: LinkedRelation): CompiledModel {
  return relation.kind === "manyToMany" && through !== undefined ? through : target;
}

/**
 * Returns the number of related rows for each row, by the names of the relations. Costs as many
 * reads as a `count` for each row: one if the index of the relation is counted. These are read
 * together.
 */
export async function loadCounts(
  view: ReadView,
  rows: readonly AnyRow[],
  counted: readonly CountedRelation[],
  meter: ReadMeter,
): Promise<Record<string, number>[]> {
  const counts: Record<string, number>[] = rows.map(() => ({}));
  // `count` reports the index that it reads. The index of the query is that of its rows.
  const { index } = meter;
  for (const { link, where } of counted) {
    const table = view.of(countedModel(link));
    const fields = referringFields(link.relation);
    const values = rows.map((row) => view.model.primaryKey.map((field) => row[field]));
    const numbers = await countEach(table, { fields, values, where }, meter);
    for (const [i, of] of counts.entries()) of[link.name] = numbers[i]!;
  }
  meter.index = index;
  return counts;
}
