import {
  findDanglingReferences,
  findDuplicates,
  findFailedRows,
  migrationStatus,
  planMigration,
} from "@keywright/orm";
import type { CompiledModel } from "@keywright/orm/codegen";
import { PropertyError } from "../source/errors.js";
import { keyOfId } from "../source/row-key.js";
import { propertyOf, type Source } from "../source/source.js";
import type { CallsOf } from "./calls-of.js";

type Names = "migration" | "failedRows" | "duplicates" | "dangling";

/** The calls that read the state of migrations, and the rows that prevent them. */
export function migrationCalls(source: Source): CallsOf<Names> {
  const { database, models } = source;
  const modelNamed = (name: string): CompiledModel => {
    const found = models.find(({ model }) => model.name === name);
    if (found === undefined) throw new PropertyError(name);
    return found.model;
  };
  return {
    migration: async () => {
      if (database === undefined) return { models: [], steps: [], databaseOnly: [], runner: null };
      const [status, plan] = [await migrationStatus(database), await planMigration(database)];
      const { runner } = status;
      return {
        models: status.models.map(({ model, indexes, transform }) => ({
          model,
          failed: transform?.failed ?? 0,
          indexes: Object.fromEntries(
            Object.entries(indexes).map(([name, { state, declared, progress, duplicates }]) => {
              const rowsDone = progress?.rowsDone ?? null;
              const rowsTotal = progress?.rowsTotal ?? null;
              return [name, { state, isDeclared: declared, rowsDone, rowsTotal, duplicates }];
            }),
          ),
        })),
        steps: plan.steps.map(({ id, model, kind, class: of, reason, blocked = null }) => {
          return { id, model, kind, class: of, reason, blocked };
        }),
        databaseOnly: plan.databaseOnly.map(({ model, rows = null }) => ({ model, rows })),
        runner: runner && { host: runner.host, since: runner.since, isAlive: runner.alive },
      };
    },
    failedRows: async ({ model, cursor }) => {
      const of = modelNamed(model);
      const page = await findFailedRows(database!, { model, cursor });
      const items = page.items.map(({ id, reason }) => ({ model, key: keyOfId(of, id), reason }));
      return { items, cursor: page.cursor };
    },
    duplicates: async ({ model, index, cursor }) => {
      const of = modelNamed(model);
      const page = await findDuplicates(database!, { model, index, cursor });
      const items = page.items.map(({ value, ids }) => {
        return { value, keys: ids.map((id) => keyOfId(of, id)) };
      });
      return { items, cursor: page.cursor };
    },
    dangling: async ({ model, cursor }) => {
      const of = modelNamed(model);
      const page = await findDanglingReferences(database!, { model, cursor });
      const items = page.items.map(({ id, relation, target, targetId }) => ({
        key: keyOfId(of, id),
        relation,
        target: propertyOf(source, target),
        targetKey: keyOfId(modelNamed(target), targetId),
      }));
      return { items, cursor: page.cursor };
    },
  };
}
