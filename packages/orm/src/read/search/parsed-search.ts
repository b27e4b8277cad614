import type { TextGroup } from "../../derived/text/text-keys.js";
import { InvalidQueryError } from "../../errors/query-errors.js";
import { assertArgument, flag } from "../../model/shape.js";
import type { AnyQuery } from "../../state/context/any-query.js";
import type { ReadView } from "../../state/context/read-view.js";
import { loadStemmer } from "../../text/languages.js";
import { parseQuery } from "../../text/parse-query.js";
import type { ParsedQuery } from "../../text/parsed-query.js";
import { takeOf } from "../find/find-rows.js";
import { type RowFilter, rowFilterOf } from "../find/rows/row-filter.js";
import { searchedGroup } from "./searched-group.js";

/** A search, for any model. */
export interface AnySearchQuery extends AnyQuery {
  /** What a person has typed. */
  readonly query: string;
  /** True if words also match that differ by one edit. */
  readonly typos?: boolean | undefined;
}

/** A search whose options are checked. */
interface ParsedSearch {
  readonly group: TextGroup;
  readonly parsed: ParsedQuery;
  /** How many rows a page has. */
  readonly take: number;
  readonly passes: RowFilter | undefined;
}

/** How many rows a page has without `take`. */
const defaultTake = 20;

/**
 * Finds the index of a search and parses its text, before anything of the index is read.
 *
 * @throws {InvalidArgumentError} if an option is not valid.
 * @throws {UnknownIndexError} if the model has no such text index.
 * @throws {IndexNotReadyError} if it is not built.
 * @throws {InvalidQueryError} if the text is no string, or if `where` is not a value of each field
 * of its key.
 */
export async function parsedSearch(view: ReadView, query: AnySearchQuery): Promise<ParsedSearch> {
  const { name } = view.model;
  if (typeof query.query !== "string")
    throw new InvalidQueryError(name, "query", "it must be a string");
  if (query.typos !== undefined) assertArgument(name, "typos", query.typos, flag);
  const take = query.take === undefined ? defaultTake : takeOf(view.model, query);
  const passes = rowFilterOf(view.model, query.filter);
  const group = await searchedGroup(view, query);
  const definition = group.index.text!;
  await loadStemmer(definition.analyzer.language);
  const parsed = parseQuery(query.query, definition, { typos: query.typos === true });
  return { group, parsed, take, passes };
}
