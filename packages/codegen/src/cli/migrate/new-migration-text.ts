import type { MigrationModule } from "../../migration-source/migration-source.js";
import { shownPath, type Terminal } from "../terminal/terminal.js";

export function newMigrationText(
  terminal: Terminal,
  path: string,
  configPath: string,
  { exportName, toWrite }: Omit<MigrationModule, "text">,
): string {
  const todo = (["up", "down"] as const).flatMap((at) => placeLine(at, toWrite[at]));
  const inexact = (["from", "to"] as const).flatMap((at) => placeLine(at, toWrite[at]));
  const steps = [
    ...(todo.length > 0 ? [["Replace TODO by the values of these fields:", ...todo]] : []),
    ...(inexact.length > 0
      ? [["Correct these fields of the schemas, as the comments say:", ...inexact]]
      : []),
    [
      `Add ${exportName} to \`migrations\` in ${shownPath(terminal, configPath)},`,
      "and in createDatabase or openRepositories of the program.",
    ],
    ["npx keywright migrate plan"],
    ["npx keywright migrate run --dry-run"],
  ];
  const lines = steps.flatMap(([first = "", ...rest], i) => [
    `  ${i + 1}. ${first}`,
    ...rest.map((line) => `     ${line}`),
  ]);
  return [`${shownPath(terminal, path)} was written. Next:`, ...lines].join("\n");
}

function placeLine(at: string, fields: readonly string[]): string[] {
  return fields.length === 0
    ? []
    : [`${at}: ${fields.map((name) => JSON.stringify(name)).join(", ")}`];
}
