import { bounded, type Cut, lengthOf } from "./bounded.js";

/** The maximum length of an answer, in UTF-16 code units. Clients refuse or cut longer ones. */
export const maxAnswerLength = 50_000;
/** The space for what is said about an answer that was shortened. */
const noteLength = 4000;
/** The part of it for the places of what was shortened. */
const cutsLength = 3500;
/** The maximum length of an error. */
const maxErrorLength = 8000;

/** What a call of a tool returns, as data. */
export type Answer =
  | { readonly result: unknown; readonly shortened?: Shortened }
  | { readonly error: unknown; readonly shortened?: Shortened };

/** What an answer lacks. */
export interface Shortened {
  /** What to do to get the rest. */
  readonly note: string;
  readonly cuts: readonly Cut[];
}

/**
 * Returns the answer of a call that has succeeded.
 *
 * @param result a value of JSON.
 * @param rest what to do to get the rest of a result that is too long.
 */
export function answerOf(result: unknown, rest: string): Answer {
  const length = lengthOf(result);
  if (length <= maxAnswerLength - 20) return { result };
  const { value, cuts } = bounded(result, maxAnswerLength - noteLength);
  const note = `The result has ${length} characters, and an answer at most ${maxAnswerLength}. ${rest}`;
  return { result: value, shortened: { note, cuts: shortCuts(cuts) } };
}

/** Returns the answer of a call that has failed. */
export function errorAnswerOf(error: unknown): Answer {
  const length = lengthOf(error);
  if (length <= maxErrorLength) return { error };
  const { value, cuts } = bounded(error, maxErrorLength);
  const note = `The error has ${length} characters. To see all of it, run the command of keywright that does the same.`;
  return { error: value, shortened: { note, cuts: shortCuts(cuts) } };
}

/** Names of fields may be long too, and a control character takes six characters in JSON. */
function shortCuts(cuts: readonly Cut[]): readonly Cut[] {
  const short = cuts.map(({ at, ...rest }) => ({
    at: at.length > 80 ? `${at.slice(0, 80)}…` : at,
    ...rest,
  }));
  while (lengthOf(short) > cutsLength) short.pop();
  return short;
}
