import { type CompiledModel, linkRelations } from "@keywright/orm/codegen";
import type { DeletionPreview, Row } from "../protocol/rows.js";
import { modelOf, propertyOf, type Source } from "../source/source.js";

/** The rows whose references are followed. */
const maxRows = 1000;
const pageSize = 100;

interface FoundRow {
  readonly property: string;
  readonly key: Row;
}

/**
 * Returns the rows that the deletion of a row would delete too or change, and those that prevent
 * it. Nothing is written. Other programs may write before the deletion, so the deletion itself
 * decides.
 */
export async function previewDelete(source: Source, root: FoundRow): Promise<DeletionPreview> {
  const links = linkRelations(source.models.map(({ model }) => model));
  const deleted = new Counts();
  const cleared = new Counts();
  const restricting: FoundRow[] = [];
  const seen = new Set([textOf(root)]);
  const waiting = [root];
  // All that refers to a row comes before what refers to those rows.
  for (let i = 0; i < waiting.length && i < maxRows; i++) {
    const { property, key } = waiting[i]!;
    const { model } = modelOf(source, property);
    for (const { model: child, fields, onDelete } of links.get(model.name)?.referencedBy ?? []) {
      // A row that is only marked keeps the references to it.
      if (onDelete === "setNull" && model.softDelete !== undefined) continue;
      const named = propertyOf(source, child.name);
      const { repository } = modelOf(source, named);
      const where = Object.fromEntries(
        fields.map((field, part) => [field, key[model.primaryKey[part] ?? ""]]),
      );
      // One more than is needed, because a row may refer to itself.
      const take = onDelete === "restrict" ? 2 : pageSize;
      const { items, cursor } = await repository.findMany({ where, take, withVersionstamp: true });
      const found = items
        .map(({ row }): FoundRow => ({ property: named, key: keyOf(child, row) }))
        .filter((each) => !seen.has(textOf(each)));
      if (onDelete === "restrict") {
        restricting.push(...found.slice(0, 1));
        continue;
      }
      (onDelete === "cascade" ? deleted : cleared).add(named, found.length, cursor !== null);
      if (onDelete !== "cascade") continue;
      for (const each of found) {
        seen.add(textOf(each));
        waiting.push(each);
      }
    }
  }
  return {
    deleted: deleted.list(),
    cleared: cleared.list(),
    restricting,
    isSoft: modelOf(source, root.property).model.softDelete !== undefined,
    isIncomplete: waiting.length > maxRows,
  };
}

/** Counts rows by the names of their models. */
class Counts {
  readonly #counts = new Map<string, { count: number; isMore: boolean }>();

  add(property: string, count: number, isMore: boolean): void {
    const before = this.#counts.get(property) ?? { count: 0, isMore: false };
    const total = { count: before.count + count, isMore: before.isMore || isMore };
    if (total.count > 0) this.#counts.set(property, total);
  }

  list(): DeletionPreview["deleted"] {
    return [...this.#counts].map(([property, counted]) => ({ property, ...counted }));
  }
}

function keyOf({ primaryKey }: CompiledModel, row: Row): Row {
  return Object.fromEntries(primaryKey.map((field) => [field, row[field]]));
}

function textOf({ property, key }: FoundRow): string {
  return `${property} ${JSON.stringify(Object.entries(key), textOfPart)}`;
}

function textOfPart(_name: string, value: unknown): unknown {
  if (typeof value === "bigint") return `${value}n`;
  return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value;
}
