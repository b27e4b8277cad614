import type { KvKey } from "@keywright/core";
import { InvalidArgumentError } from "../../errors/query-errors.js";
import { keyText } from "../../model/keys/key-text.js";
import { isSameData } from "../../model/rows/is-same-data.js";
import type { BrokenEntry } from "./adopt-result.js";
import { documentsAt } from "./source/read-documents.js";
import {
  documentKey,
  type ExpectedEntry,
  idText,
  type SourceDocument,
  type SourceEntry,
  type SourceLayout,
  type SourceReader,
} from "./source/source-layout.js";

/** Returns the entries of some documents that are missing or hold something else. */
export async function findMissingEntries(
  layout: SourceLayout,
  reader: SourceReader,
  documents: readonly SourceDocument[],
): Promise<BrokenEntry[]> {
  const expected: { readonly document: SourceDocument; readonly entry: ExpectedEntry }[] = [];
  for (const document of documents) {
    for (const entry of await expectedEntries(layout, document)) expected.push({ document, entry });
  }
  const found = await reader.getMany(expected.map(({ entry }) => entry.key));
  const suspects = expected.flatMap(({ document, entry }, position) => {
    const kind = brokenKind(layout, document, entry, found[position]);
    return kind === undefined ? [] : [{ document, entry, kind }];
  });
  // A document that changed in the meantime may have changed its entries too.
  const isSame = await unchanged(
    reader,
    suspects.map(({ document }) => document.entry),
  );
  return suspects
    .filter(({ document }) => isSame.has(document.entry))
    .map(({ document, entry, kind }) => ({ key: entry.key, kind, id: document.id }));
}

/** Returns the entries that lead to no document, or to one that should not have them. */
export async function findDanglingEntries(
  layout: SourceLayout,
  reader: SourceReader,
  entries: readonly SourceEntry[],
): Promise<BrokenEntry[]> {
  const owners = entries.map((entry) => layout.ownerOf(entry));
  const ids = owners.filter((id) => id !== undefined);
  const documents = await documentsAt(
    layout,
    reader,
    ids.map((id) => documentKey(layout, id)),
  );
  const byId = new Map(documents.map((document) => [idText(document.id), document]));
  const suspects: { readonly entry: SourceEntry; readonly broken: BrokenEntry }[] = [];
  for (const [position, entry] of entries.entries()) {
    const id = owners[position];
    const document = id === undefined ? undefined : byId.get(idText(id));
    if (document === undefined) {
      suspects.push({ entry, broken: { key: entry.key, kind: "dangling", id } });
    } else if (!("error" in document) && !(await hasEntry(layout, document, entry.key))) {
      suspects.push({ entry, broken: { key: entry.key, kind: "mismatched", id } });
    }
  }
  const isSame = await unchanged(
    reader,
    suspects.map(({ entry }) => entry),
  );
  return suspects.filter(({ entry }) => isSame.has(entry)).map(({ broken }) => broken);
}

function brokenKind(
  layout: SourceLayout,
  document: SourceDocument,
  expected: ExpectedEntry,
  found: SourceEntry | undefined,
): "missing" | "mismatched" | undefined {
  const owner = found && layout.ownerOf(found);
  // An entry of another document is checked with that document.
  if (owner === undefined || idText(owner) !== idText(document.id)) {
    return expected.isOptional ? undefined : "missing";
  }
  return isSameData(found?.value, expected.value) ? undefined : "mismatched";
}

async function hasEntry(
  layout: SourceLayout,
  document: SourceDocument,
  key: KvKey,
): Promise<boolean> {
  const text = keyText(key);
  return (await expectedEntries(layout, document)).some((entry) => keyText(entry.key) === text);
}

async function expectedEntries(
  layout: SourceLayout,
  document: SourceDocument,
): Promise<readonly ExpectedEntry[]> {
  try {
    return await layout.entriesOf(document);
  } catch (error) {
    if (error instanceof InvalidArgumentError) throw error;
    return [];
  }
}

async function unchanged(
  reader: SourceReader,
  entries: readonly SourceEntry[],
): Promise<Set<SourceEntry>> {
  const now = await reader.getMany(entries.map((entry) => entry.key));
  return new Set(entries.filter((entry, i) => now[i]?.versionstamp === entry.versionstamp));
}
