import { type AnyDatabase, tableContexts } from "../../state/context/any-database.js";
import type { RowMigration } from "../../state/schema/define-migration.js";
import { readFacts } from "./plan-migration.js";
import { obstaclesOf } from "./way-back.js";

/** A migration of a program, and whether its rows can go back by its `down`. */
export interface UndoableMigration {
  readonly name: string;
  readonly model: string;
  /** A clause for people that says why not, after "because". Absent if they can. */
  readonly obstacle?: string;
}

/**
 * Returns the migrations of a program in their order, each with what prevents it from being undone:
 * it has no `down`, or nothing leads from the stored rows back to those that it made.
 */
export async function undoableMigrations(database: AnyDatabase): Promise<UndoableMigration[]> {
  const obstacles = new Map<RowMigration, string | undefined>();
  for (const context of tableContexts(database).values()) {
    const { storedRow, migrations, model } = await readFacts(context);
    const own = migrations.filter((migration) => migration.model === model.name);
    for (const [migration, obstacle] of obstaclesOf(storedRow, own)) {
      obstacles.set(migration, obstacle);
    }
  }
  return [...obstacles].map(([{ name, model }, obstacle]) => {
    return { name, model, ...(obstacle !== undefined && { obstacle }) };
  });
}
