import { type CompiledModel, linkRelations } from "@keywright/orm/codegen";
import type { DeletionPreview, Row } from "../protocol/protocol.js";
import { modelOf, propertyOf, type Source } from "../source/source.js";

/** Further rows are not counted. */
const maxRows = 1000;
const pageSize = 100;

interface Counted {
  count: number;
  isMore: boolean;
}

/**
 * Returns the rows that the deletion of a row would delete too or change, and those that prevent
 * it. Nothing is written. Other programs may write meanwhile, so the deletion itself decides.
 */
export async function previewDelete(
  source: Source,
  { property, key }: { readonly property: string; readonly key: Row },
): Promise<DeletionPreview> {
  const links = linkRelations(source.models.map(({ model }) => model));
  const deleted = new Map<string, Counted>();
  const cleared = new Map<string, Counted>();
  const restricting: { property: string; key: Row }[] = [];
  const isSoft = modelOf(source, property).model.softDelete !== undefined;
  const seen = new Set<string>();
  let left = maxRows;
  const note = (counts: Map<string, Counted>, of: string, count: number, isMore: boolean) => {
    const before = counts.get(of) ?? { count: 0, isMore: false };
    counts.set(of, { count: before.count + count, isMore: before.isMore || isMore });
  };
  const visit = async ({ property: of, key: row }: { property: string; key: Row }) => {
    const { model } = modelOf(source, of);
    for (const reference of links.get(model.name)?.referencedBy ?? []) {
      const { fields, onDelete } = reference;
      const child = propertyOf(source, reference.model.name);
      const where = Object.fromEntries(
        fields.map((field, i) => [field, row[model.primaryKey[i] ?? ""]]),
      );
      // What is only marked keeps its references.
      if (onDelete === "setNull" && isSoft) continue;
      const { repository } = modelOf(source, child);
      const take = onDelete === "restrict" ? 1 : Math.max(1, Math.min(pageSize, left));
      const { items, cursor } = await repository.findMany({ where, take, withVersionstamp: true });
      if (items.length === 0) continue;
      const keys = items.map((item) => keyOf(reference.model, item.row));
      if (onDelete === "restrict") {
        restricting.push({ property: child, key: keys[0]! });
        continue;
      }
      const fresh = keys.filter((each) => {
        const text = `${child} ${JSON.stringify(each, textOfBigint)}`;
        if (seen.has(text)) return false;
        seen.add(text);
        return true;
      });
      left -= fresh.length;
      note(onDelete === "cascade" ? deleted : cleared, child, fresh.length, cursor !== null);
      if (onDelete !== "cascade") continue;
      for (const each of fresh) {
        if (left <= 0) return;
        await visit({ property: child, key: each });
      }
    }
  };
  await visit({ property, key });
  const listed = (counts: Map<string, Counted>) =>
    [...counts].map(([name, counted]) => ({ property: name, ...counted }));
  return { deleted: listed(deleted), cleared: listed(cleared), restricting, isSoft };
}

function keyOf({ primaryKey }: CompiledModel, row: Row): Row {
  return Object.fromEntries(primaryKey.map((field) => [field, row[field]]));
}

function textOfBigint(_name: string, value: unknown): unknown {
  return typeof value === "bigint" ? `${value}n` : value;
}
