import type { AnyRow } from "../model/compiled-model.js";
import type { TableContext } from "../query/table-context.js";
import type { CommitExtras } from "./commit-extras.js";

export async function checkReferences(
  _context: TableContext,
  _before: AnyRow | null,
  _after: AnyRow,
): Promise<CommitExtras> {
  return { checks: [], mutations: [] };
}
