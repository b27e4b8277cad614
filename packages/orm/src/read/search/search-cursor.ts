import { Buffer, createHash } from "@keywright/core/platform";
import { InvalidCursorError } from "../../errors/query-errors.js";
import { count, listOf, object, text } from "../../model/shape.js";
import type { TextStatistics } from "../../text/score.js";
import type { Position } from "./best-docs.js";

/**
 * The numbers from which scores are computed. The cursor has those of the first page, so that
 * scores are the same on all pages, even if others write rows in between.
 */
export interface SearchStatistics extends TextStatistics {
  /** How many rows have each term of the query. */
  readonly matching: readonly number[];
}

/** Where a search continues. */
export interface SearchCursor {
  readonly statistics: SearchStatistics;
  readonly after: Position;
}

const shape = object({
  query: text,
  documents: count,
  words: count,
  matching: listOf(count),
  score: count,
  key: text,
});

/** What a cursor contains besides the digest. */
interface StoredPlace extends SearchStatistics {
  readonly score: number;
  /** The primary key as base64. */
  readonly key: string;
}

/** @param query identifies the query: only the same one continues. */
export function encodeSearchCursor(
  query: string,
  { documents, words, matching }: SearchStatistics,
  { score, key }: Position,
): string {
  const place = { documents, words, matching, score, key: Buffer.from(key).toString("base64url") };
  const cursor = { query: digestOf(query, place), ...place };
  return Buffer.from(JSON.stringify(cursor)).toString("base64url");
}

/**
 * @param terms how many terms the query has. An index with another language may have others.
 * @throws {InvalidCursorError} if the cursor is not one of this query.
 */
export function decodeSearchCursor(
  model: string,
  query: string,
  cursor: string,
  terms: number,
): SearchCursor {
  const stored = parsed(cursor);
  if (shape(stored) !== undefined) throw new InvalidCursorError(model, String(cursor));
  const { documents, words, matching, score, key, ...others } = stored as StoredPlace & {
    readonly query: string;
  };
  const digest = digestOf(query, { documents, words, matching, score, key });
  if (others.query !== digest || matching.length !== terms)
    throw new InvalidCursorError(model, cursor);
  return {
    statistics: { documents, words, matching },
    after: { score, key: new Uint8Array(Buffer.from(key, "base64url")) },
  };
}

function parsed(cursor: unknown): unknown {
  if (typeof cursor !== "string") return undefined;
  try {
    return JSON.parse(Buffer.from(cursor, "base64url").toString()) as unknown;
  } catch {
    return undefined;
  }
}

/** A cursor that was changed has another digest. */
function digestOf(query: string, place: StoredPlace): string {
  const text = JSON.stringify([query, place]);
  return createHash("sha256").update(text).digest("base64url").slice(0, 16);
}
