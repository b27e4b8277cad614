import type { MigrationModule } from "../../migration-source/migration-source.js";
import { shownPath, type Terminal } from "../terminal/terminal.js";

/** Returns the path of a new migration file, and the steps that the user takes next. */
export function newMigrationText(
  terminal: Terminal,
  path: string,
  configPath: string,
  { exportName, toWrite }: Omit<MigrationModule, "text">,
): string {
  const todo = (["up", "down"] as const).flatMap((at) => placeLine(at, toWrite[at]));
  const inexact = (["from", "to"] as const).flatMap((at) => placeLine(at, toWrite[at]));
  const steps = [
    ...(todo.length > 0 ? [["Write the values that are TODO:", ...todo]] : []),
    ...(inexact.length > 0 ? [["Correct the schemas as their comments say:", ...inexact]] : []),
    [
      `Add ${exportName} to \`migrations\` of ${shownPath(terminal, configPath)},`,
      "and of createDatabase or openRepositories in the program.",
    ],
    ["npx keywright migrate plan"],
    ["npx keywright migrate run --dry-run"],
  ];
  const lines = steps.flatMap(([first = "", ...rest], i) => [
    `  ${i + 1}. ${first}`,
    ...rest.map((line) => `     ${line}`),
  ]);
  return [`${shownPath(terminal, path)} is written. Next:`, ...lines].join("\n");
}

function placeLine(at: string, fields: readonly string[]): string[] {
  return fields.length === 0
    ? []
    : [`${at}: ${fields.map((name) => JSON.stringify(name)).join(", ")}`];
}
