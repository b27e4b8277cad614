import { KeyPrefix, type KvEntry, type KvListedEntry } from "@keywright/core";
import { compareBytes } from "../../../derived/text/format/compare-bytes.js";
import { readFresh } from "../../../derived/text/read-fresh.js";
import { type GoneDocs, goneDocsIn, readGone } from "../../../derived/text/segment-source.js";
import { bytesIn, damageOf } from "../../../derived/text/stored-bytes.js";
import {
  documentKey,
  primaryKeyOfFresh,
  sectionPrefix,
  stateKey,
  type TextGroup,
} from "../../../derived/text/text-keys.js";
import { textState } from "../../../derived/text/text-state.js";
import { VersionConflictError } from "../../../errors/row-errors.js";
import { awaitAll } from "../../../promises/await-all.js";
import type { ReadMeter } from "../../../state/context/read-meter.js";
import type { ReadView } from "../../../state/context/read-view.js";
import type { WantedWords } from "../wanted-words.js";
import { type Changes, rememberChanges, rememberedChanges } from "./changes-memory.js";
import { freshSource } from "./fresh-source.js";
import { readSegments } from "./read-segments.js";
import type { TextSource } from "./text-source.js";

/** How often a search reads again if segments change, on a database without views. */
const maxTries = 20;

/**
 * Reads what a query needs of all documents of a group, from one state of the database.
 *
 * @throws {VersionConflictError} if segments change during each try.
 */
export async function readSources(
  view: ReadView,
  meter: ReadMeter,
  group: TextGroup,
  wanted: WantedWords,
): Promise<readonly TextSource[]> {
  for (let tries = 1; ; tries++) {
    const { kv, model } = view;
    meter.add(1);
    const stored = await kv.get(stateKey(group));
    const { segments } = textState(model, stored);
    const seesOneState = view.isOneState || view.isInTransaction;
    try {
      const { fresh, gone } = await currentChanges(view, meter, group, segments.length > 0);
      const list = { segments, versionstamp: stored.versionstamp ?? "" };
      const sources = await readSegments(view, meter, group, list, gone, wanted);
      if (fresh.length > 0) sources.push(freshSource(group, fresh, wanted));
      if (seesOneState || (await isCurrent(view, group, stored.versionstamp))) return sources;
    } catch (error) {
      // An entry of a segment that has been merged since may be missing.
      if (seesOneState || (await isCurrent(view, group, stored.versionstamp)))
        throw damageOf(error, model, stored.key);
    }
    if (tries === maxTries) throw new VersionConflictError(model.name, group.index.name, tries);
  }
}

/** How many fresh documents and marks are read in one call. */
const maxTogether = 1000;

/** Returns what has changed since segments were made. What is remembered counts as read. */
async function currentChanges(
  view: ReadView,
  meter: ReadMeter,
  group: TextGroup,
  hasSegments: boolean,
): Promise<Changes> {
  const remembered = rememberedChanges(view, group);
  if (remembered !== undefined) {
    meter.add(remembered.entries);
    return remembered;
  }
  const before = meter.reads;
  const { fresh, gone } = await readChanges(view, meter, group, hasSegments);
  const documents = fresh.map((entry) => ({
    key: documentKey(primaryKeyOfFresh(group, entry.key)),
    bytes: bytesIn(view.model, entry),
  }));
  documents.sort((a, b) => compareBytes(a.key, b.key));
  const changes = { fresh: documents, gone, entries: meter.reads - before };
  rememberChanges(view, group, changes);
  return changes;
}

interface ReadEntries {
  readonly fresh: readonly (KvEntry<unknown> | KvListedEntry)[];
  readonly gone: GoneDocs;
}

async function readChanges(
  view: ReadView,
  meter: ReadMeter,
  group: TextGroup,
  hasSegments: boolean,
): Promise<ReadEntries> {
  const { kv, model, limits } = view;
  const sections = hasSegments ? (["fresh", "gone"] as const) : (["fresh"] as const);
  if (kv.pages !== undefined) {
    const lists = await kv.pages.listEach(
      sections.map((section) => new KeyPrefix(sectionPrefix(group, section), model.keyOrder)),
      { limit: maxTogether, most: maxTogether, withValues: true },
    );
    const [fresh = [], gone = []] = lists;
    if (fresh.length + gone.length < maxTogether) {
      meter.add(fresh.length + gone.length);
      return { fresh, gone: goneDocsIn(model, group, gone) };
    }
  }
  const [fresh, gone] = await awaitAll([
    readFresh({ kv, limits }, group),
    hasSegments ? readGone(view, group, () => meter.add(1)) : noneGone,
  ] as const);
  meter.add(fresh.length);
  return { fresh, gone };
}

const noneGone: GoneDocs = new Map();

async function isCurrent(
  { kv }: ReadView,
  group: TextGroup,
  versionstamp: string | null,
): Promise<boolean> {
  return (await kv.get(stateKey(group))).versionstamp === versionstamp;
}
