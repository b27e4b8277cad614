import type { AnyDatabase, Page } from "@keywright/orm";
import { findDuplicates, findFailedRows } from "@keywright/orm/migrate";
import { ReportedError } from "../terminal/report-error.js";
import type { Terminal } from "../terminal/terminal.js";
import { failureText } from "../terminal/text/failure-text.js";
import { shownId, shownKeyValue } from "../terminal/text/shown-value.js";
import { writeText } from "../terminal/text/wrap.js";
import { writeJsonList } from "../terminal/write-json.js";

/** Writes all values of a unique index that several rows have, one per line. */
export async function writeDuplicates(
  terminal: Terminal,
  database: AnyDatabase,
  of: { readonly model: string; readonly index: string },
  json: boolean,
): Promise<void> {
  const pages = pagesOf((cursor) => findDuplicates(database, { ...of, cursor }));
  await writeList(terminal, pages, {
    json,
    none: `No rows share a value of the unique index ${of.model}.${of.index}.`,
    line: ({ value, ids }) => `${shownKeyValue(value)}  in rows ${ids.map(shownId).join(", ")}`,
  });
}

/** Writes all rows that a migration could not change, one per line. */
export async function writeFailedRows(
  terminal: Terminal,
  database: AnyDatabase,
  model: string,
  json: boolean,
): Promise<void> {
  const pages = pagesOf((cursor) => findFailedRows(database, { model, cursor }));
  await writeList(terminal, pages, {
    json,
    none: `A migration could change all rows of ${model} so far.`,
    line: (row) => `${shownId(row.id)}  ${failureText(row)}`,
  });
}

async function* pagesOf<T>(
  read: (cursor: string | null) => Promise<Page<T>>,
): AsyncGenerator<readonly T[]> {
  let cursor: string | null = null;
  do {
    const page: Page<T> = await read(cursor);
    yield page.items;
    ({ cursor } = page);
  } while (cursor !== null);
}

interface ListFormat<T> {
  readonly json: boolean;
  readonly none: string;
  readonly line: (item: T) => string;
}

async function writeList<T>(
  terminal: Terminal,
  pages: AsyncIterable<readonly T[]>,
  { json, none, line }: ListFormat<T>,
): Promise<void> {
  if (json) {
    const failure = await writeJsonList((text) => void terminal.stdout.write(text), itemsOf(pages));
    if (failure !== undefined) throw new ReportedError();
    return;
  }
  let isEmpty = true;
  for await (const page of pages) {
    for (const item of page) writeText(terminal.stdout, line(item));
    isEmpty &&= page.length === 0;
  }
  if (isEmpty) writeText(terminal.stdout, none);
}

async function* itemsOf<T>(pages: AsyncIterable<readonly T[]>): AsyncGenerator<T> {
  for await (const page of pages) yield* page;
}
