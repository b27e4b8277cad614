import { randomUUID } from "node:crypto";
import { snippet, type TextRange } from "@keywright/orm";
import type { Excerpt, SearchHits } from "../protocol/rows.js";
import type { StudioCalls } from "../protocol/studio-calls.js";
import { modelOf, type Source } from "../source/source.js";

const pageSize = 20;

/** Searches the rows of a model. The repository checks what the page sends. */
export async function searchRows(
  source: Source,
  { property, index, query, where, cursor }: StudioCalls["search"]["input"],
): Promise<SearchHits> {
  const { repository } = modelOf(source, property);
  const options = { index, query, where, cursor, take: pageSize, withVersionstamp: true };
  const { items, count, ignored, ...page } = await repository.search(options);
  const hits = items.map(({ row: { row, versionstamp }, score, highlights }) => {
    const excerpts = Object.entries(highlights).map(([field, ranges]) =>
      excerptOf(field, String(row[field]), ranges),
    );
    return { row, versionstamp, score, excerpts };
  });
  return { items: hits, cursor: page.cursor, count, ignored };
}

function excerptOf(field: string, text: string, ranges: readonly TextRange[]): Excerpt {
  // No text of the database contains it.
  const separator = randomUUID();
  const marks = { before: separator, after: separator, escape: false };
  return { field, parts: snippet(text, ranges, marks).split(separator) };
}
