import { inspect } from "node:util";
import {
  type AnyDatabase,
  type MigrationPlan,
  type PreviewedRow,
  previewMigration,
} from "@keywright/orm";
import { type ExitCode, exitCodes } from "../exit-codes.js";
import { failureText } from "../failure-text.js";
import { shownId } from "../shown-value.js";
import { styled, type Terminal } from "../terminal.js";
import { writeJson } from "../write-json.js";
import type { MigrateCommandOptions } from "./migrate-options.js";
import { planText } from "./plan-text.js";

/** So many rows of a model are shown. */
const shownRows = 5;

/** What a change of all rows would make of some of a model's. */
interface Preview {
  readonly model: string;
  readonly rows: readonly PreviewedRow[];
}

/** Shows a plan, and what becomes of some of the rows that it changes. Writes nothing. */
export async function dryRun(
  terminal: Terminal,
  database: AnyDatabase,
  plan: MigrationPlan,
  { json }: MigrateCommandOptions,
): Promise<ExitCode> {
  const previews = await previewsOf(database, plan);
  if (json) writeJson(terminal, { plan, previews });
  else {
    const blocks = [planText(terminal, plan), ...previews.map((one) => previewText(terminal, one))];
    const end = "Nothing was written.";
    terminal.stdout.write(`${[...blocks, end].join("\n\n")}\n`);
  }
  return plan.isBreaking || plan.needsMigration ? exitCodes.undecided : exitCodes.done;
}

async function previewsOf(database: AnyDatabase, plan: MigrationPlan): Promise<Preview[]> {
  const previews: Preview[] = [];
  for (const { model } of plan.models) {
    const rows = await previewMigration(database, { model, rows: shownRows });
    if (rows.length > 0) previews.push({ model, rows });
  }
  return previews;
}

function previewText({ stdout }: Terminal, { model, rows }: Preview): string {
  const lines = rows.flatMap((row) => {
    const before = `    - ${rowText(row.before)}`;
    const after =
      "after" in row
        ? styled(stdout, "green", `    + ${rowText(row.after)}`)
        : styled(stdout, "yellow", `    ! ${failureText(row)}`);
    return [`  ${shownId(row.id)}`, styled(stdout, "red", before), after];
  });
  return [`What becomes of the first rows of ${model}:`, ...lines].join("\n");
}

/** Strings in it are escaped. */
function rowText(row: unknown): string {
  return inspect(row, { breakLength: Number.POSITIVE_INFINITY, depth: 4, maxStringLength: 80 });
}
