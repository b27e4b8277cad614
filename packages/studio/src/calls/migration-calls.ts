import { migrationStatus } from "@keywright/orm";
import { type CompiledModel, undoableMigrations } from "@keywright/orm/codegen";
import {
  findDanglingReferences,
  findDuplicates,
  findFailedRows,
  type LeftValues,
  type MigrationPlan,
  planMigration,
} from "@keywright/orm/migrate";
import type { MigrationState } from "../protocol/maintenance.js";
import { hadSchema } from "../source/catalog.js";
import { PropertyError } from "../source/errors.js";
import { keyOfId } from "../source/row-key.js";
import { propertyOf, type Source } from "../source/source.js";
import type { CallsOf } from "./calls-of.js";

const noMigration: MigrationState = {
  ...{ models: [], steps: [], goesBack: [], isSideBySide: true, migrations: [], databaseOnly: [] },
  warnings: [],
  runner: null,
};

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
      if (database === undefined) return noMigration;
      const [status, plan] = [await migrationStatus(database), await planMigration(database)];
      const { runner } = status;
      return {
        models: status.models.map(({ model, indexes, transform }) => ({
          model,
          failed: transform?.failed ?? 0,
          indexes: Object.fromEntries(
            Object.entries(indexes).map(([name, { state, declared, progress, duplicates }]) => {
              return [name, { state, isDeclared: declared, progress, duplicates }];
            }),
          ),
        })),
        steps: plan.steps.map(({ id, model, kind, class: of, reason, blocked = null }) => {
          return { id, model, kind, class: of, reason, blocked };
        }),
        goesBack: await modelsGoingBack(source, plan),
        isSideBySide: plan.steps.every(({ sideBySide }) => sideBySide),
        migrations: (await undoableMigrations(database)).map(({ name, model, obstacle = null }) => {
          return { name, model, obstacle };
        }),
        warnings: [
          ...plan.leftValues.map(leftValuesText),
          ...plan.warnings.map((one) => one.reason),
        ],
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

function leftValuesText({ model, fields }: LeftValues): string {
  const values = `Rows of ${model} may still hold values of removed fields (${fields.join(", ")}).`;
  return `${values} To remove them: npx keywright migrate run --remove-values ${model}`;
}

/** Returns the models of the plan whose earlier schema the program has. */
async function modelsGoingBack(source: Source, plan: MigrationPlan): Promise<string[]> {
  const names: string[] = [];
  for (const { model } of source.models) {
    const steps = plan.steps.filter((step) => step.model === model.name);
    // A change of rows is breaking only if it needs the `down` of a migration.
    const isDown = steps.some(
      (step) => step.kind === "transform-rows" && step.class === "breaking",
    );
    if (isDown || (steps.length > 0 && (await hadSchema(source, model)))) names.push(model.name);
  }
  return names;
}
