import type { IndexStatus, ModelStatus } from "@keywright/orm/migrate";
import { formatKey } from "../../inspect/entries/format-key.js";
import type { DatabaseStats, ModelStats } from "../../inspect/stats/database-stats.js";
import type { IndexSize } from "../../inspect/stats/model-places.js";
import { addTo, emptySize, type Size } from "../../inspect/stats/size.js";
import { styled } from "../terminal/terminal.js";
import { counted, rowsDoneText, shownNumber } from "../terminal/text/counted.js";
import { commandLine } from "../terminal/text/wrap.js";

interface Row {
  readonly name: string;
  readonly size: Size;
  readonly note: string;
  readonly isHeading: boolean;
}

export function statsText(stats: DatabaseStats, stdout: NodeJS.WriteStream): string {
  const rows = rowsOf(stats);
  const nameWidth = widest(rows.map(({ name }) => name));
  const keysWidth = widest(["keys", ...rows.map(({ size }) => shownNumber(size.keys))]);
  const bytesWidth = widest(["bytes", ...rows.map(({ size }) => bytesText(size.bytes))]);
  const columns = (name: string, keys: string, bytes: string) =>
    `${name.padEnd(nameWidth)}  ${keys.padStart(keysWidth)}  ${bytes.padStart(bytesWidth)}`;
  const lines = rows.flatMap(({ name, size, note, isHeading }, index) => {
    const cells = columns(name, shownNumber(size.keys), bytesText(size.bytes));
    const text = isHeading ? styled(stdout, "bold", cells) : cells;
    const line = note === "" ? text : `${text}  ${styled(stdout, "dim", note)}`;
    return isHeading && index > 0 ? ["", line] : [line];
  });
  return [
    styled(stdout, "dim", columns("", "keys", "bytes")),
    ...lines,
    ...runnerLines(stats),
    "",
    styled(stdout, "dim", "Bytes are those of the encoded keys and values, not the size on disk."),
  ].join("\n");
}

function rowsOf({ models, migration, own, others, rest, total }: DatabaseStats): Row[] {
  const statuses = new Map(migration?.models.map((status) => [status.model, status]));
  const noModel = sumOf([...others, rest]);
  return [
    ...models.flatMap((model) => rowsOfModel(model, statuses.get(model.model))),
    ...(own.keys === 0 ? [] : [heading("internal, of no model", own)]),
    ...(noModel.keys === 0 ? [] : [heading("of no model", noModel)]),
    ...others.map((other) => row(`${formatKey(other.prefix)} …`, other)),
    ...(rest.keys === 0 ? [] : [row("all others", rest)]),
    heading("total", total),
  ];
}

function rowsOfModel(model: ModelStats, status: ModelStatus | undefined): Row[] {
  const { rows, indexes, counters, catalog, other } = model;
  const all = sumOf([rows, ...Object.values(indexes), counters, catalog, other]);
  return [
    heading(model.model, all, modelNote(model, status)),
    row("rows", rows),
    ...Object.entries(indexes).map(([name, index]) =>
      row(name, index, indexNote(index, status?.indexes[name])),
    ),
    ...(counters.keys === 0 ? [] : [row("(counters)", counters)]),
    ...(catalog.keys === 0 ? [] : [row("(catalog)", catalog)]),
    ...(other.keys === 0 ? [] : [row("(other)", other)]),
  ];
}

function modelNote(model: ModelStats, status: ModelStatus | undefined): string {
  const { projectSchema, databaseSchema, catalogFormat, declared } = model;
  if (!declared) return "not in this project";
  if (catalogFormat === null) return "new to the database";
  const schema =
    databaseSchema === null || databaseSchema === projectSchema
      ? `schema ${projectSchema}`
      : `schema ${databaseSchema} in the database, ${projectSchema} in the project`;
  const transform = status?.transform;
  if (!transform) return schema;
  const { progress, failed } = transform;
  const progressNote = progress === null ? "" : `, ${rowsDoneText(progress)}`;
  return `${schema}; rows are being changed${progressNote}${failed > 0 ? `, ${shownNumber(failed)} failed` : ""}`;
}

function indexNote({ declared, state }: IndexSize, status: IndexStatus | undefined): string {
  const stateParts = [status?.state ?? state];
  const notes = [
    ...(declared ? [] : ["not in the model"]),
    ...(status?.progress ? [rowsDoneText(status.progress)] : []),
    ...(status?.duplicates ? [counted(status.duplicates, "duplicate")] : []),
  ];
  return [...stateParts, ...notes].join(", ");
}

function runnerLines({ migration, models }: DatabaseStats): string[] {
  const runner = migration?.runner;
  const isChanged = models.some(
    ({ declared, databaseSchema, projectSchema }) =>
      declared && databaseSchema !== null && databaseSchema !== projectSchema,
  );
  return [
    ...(runner
      ? [
          "",
          `A migration that started on ${runner.host} at ${runner.since.toISOString()} ${runner.alive ? "is running" : "was killed"}.`,
        ]
      : []),
    ...(isChanged
      ? [
          "",
          `The models differ from the database. To see the plan:\n${commandLine("migrate plan")}`,
        ]
      : []),
  ];
}

function heading(name: string, size: Size, note = ""): Row {
  return { name, size, note, isHeading: true };
}

function row(name: string, size: Size, note = ""): Row {
  return { name: `  ${name}`, size, note, isHeading: false };
}

function sumOf(sizes: readonly Size[]): Size {
  const sum = emptySize();
  for (const { keys, bytes } of sizes) addTo(sum, bytes, keys);
  return sum;
}

function widest(texts: readonly string[]): number {
  return Math.max(...texts.map((text) => text.length));
}

/** Formats a number of bytes with one decimal, or none below 1000. A kB is 1000 bytes. */
function bytesText(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let [amount, unit] = [bytes, 0];
  for (; amount >= 1000 && unit < units.length - 1; unit++) amount /= 1000;
  return `${unit === 0 ? amount : amount.toFixed(1)} ${units[unit]}`;
}
