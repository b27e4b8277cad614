import { knownNames } from "./nearest-name.js";

/** Options → the names that other libraries have for them. */
const names = {
  take: ["first", "limit", "maxresults", "pagesize", "perpage", "size", "top"],
  skip: ["offset", "start"],
  cursor: ["after", "continue", "nexttoken", "page", "pagetoken", "startafter"],
  orderBy: ["order", "orderby", "ordering", "sort", "sortby"],
  order: ["direction", "orderby", "reverse", "sort"],
  where: ["by", "condition", "conditions", "criteria", "id", "match", "query"],
  select: ["attributes", "columns", "fields", "omit", "pick", "projection"],
  include: ["expand", "join", "joins", "populate", "relations", "with"],
  data: ["changes", "doc", "document", "input", "record", "row", "set", "values"],
  by: ["fields", "group", "groupby"],
  field: ["by", "column", "fields", "on", "select"],
  skipDuplicates: ["ignore", "ignoreduplicates", "onconflict", "ordered"],
  expireIn: ["expire", "expireat", "expires", "expiresin", "lifetime", "ttl"],
  ifVersion: ["check", "expectedversion", "version", "versionstamp"],
  signal: ["abort", "abortsignal", "cancel"],
  maxReads: ["maxscan", "readlimit", "timeout"],
} as const;

type Names = typeof names;

const ofRanks = "use the cursor of the page before, or skip if the index is ranked";

/**
 * Returns advice for an option that a call does not have: the option that does the same here, such
 * as `use take` for `limit`, or else the nearest name or all names.
 */
export function optionAdvice(name: string, known: Iterable<string>): string {
  const options = [...known];
  const asWritten = name.toLowerCase().replaceAll(/[_-]/g, "");
  const same = options.filter((option) => {
    return Object.hasOwn(names, option) && others(option).includes(asWritten);
  });
  if (same.length === 0) return knownNames(name, options, "options");
  const [only] = same;
  // An index without ranks cannot leave rows out without reading them.
  if (only === "skip") return ofRanks;
  return `use ${same.join(" or ")}`;
}

function others(option: string): readonly string[] {
  return names[option as keyof Names];
}

/**
 * Name, known options → the same advice as a type. A misspelled name is recognized if one character
 * is wrong.
 */
export type OptionAdvice<Name, Known> = Name extends string
  ? [Same<Spelled<Name>, Known>] extends [never]
    ? [Near<Lowercase<Name>, Known>] extends [never]
      ? `the options are ${Listed<OptionOrder, Known>}`
      : `did you mean ${Near<Lowercase<Name>, Known>}?`
    : Same<Spelled<Name>, Known> extends "skip"
      ? typeof ofRanks
      : `use ${Same<Spelled<Name>, Known>}`
  : "an option has a name";

/** Name in lower case, known options → those that have the name in other libraries. */
type Same<Name, Known> = {
  [Option in keyof Names & Known]: Name extends Names[Option][number] ? Option : never;
}[keyof Names & Known];

/** Text → the same in lower case, without `_` and `-`. */
type Spelled<Text extends string> = Text extends `${infer Before}${"_" | "-"}${infer After}`
  ? Spelled<`${Before}${After}`>
  : Lowercase<Text>;

/** Misspelled name in lower case, known options → those that it may stand for. */
type Near<Name extends string, Known> = Known extends string
  ? IsNear<Name, Lowercase<Known>> extends true
    ? Known
    : never
  : never;

/** True if one character is inserted, deleted or replaced, or two neighbours are swapped. */
type IsNear<A extends string, B extends string> = A extends `${infer First}${infer AfterA}`
  ? B extends `${infer Other}${infer AfterB}`
    ? First extends Other
      ? IsNear<AfterA, AfterB>
      : [AfterA, A] extends [AfterB | B, unknown] | [unknown, AfterB]
        ? true
        : AfterA extends `${Other}${infer Rest}`
          ? AfterB extends `${First}${Rest}`
            ? true
            : false
          : false
    : AfterA extends ""
      ? true
      : false
  : B extends `${string}${infer Rest}`
    ? Rest extends ""
      ? true
      : false
    : true;

/** All options, in the order in which advice lists them. */
type OptionOrder = [
  "where",
  "data",
  "create",
  "update",
  "field",
  "by",
  "orderBy",
  "order",
  "index",
  "filter",
  "having",
  "count",
  "sum",
  "avg",
  "min",
  "max",
  "take",
  "skip",
  "cursor",
  "before",
  "cascade",
  "select",
  "include",
  "withVersionstamp",
  "withDeleted",
  "atomic",
  "skipDuplicates",
  "ifVersion",
  "expireIn",
  "maxReads",
  "signal",
];

/** Names in order, those that count → a text that lists these. */
type Listed<Order, Known, Text extends string = ""> = Order extends [
  infer Next extends string,
  ...infer Rest,
]
  ? Listed<Rest, Known, Next extends Known ? (Text extends "" ? Next : `${Text}, ${Next}`) : Text>
  : Text;
