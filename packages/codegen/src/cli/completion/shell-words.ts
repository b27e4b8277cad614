import type { CommandPlace, Values } from "./command-places.js";

/** Quotes a text with single quotes for bash and zsh. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Returns the values of options by place and option: `migrate plan|--config`. */
export function waitingOptions(places: readonly CommandPlace[]): ReadonlyMap<string, Values> {
  const waiting = new Map<string, Values>();
  for (const { at, options } of places) {
    for (const { names, values } of options) {
      if (values === undefined) continue;
      for (const name of names) waiting.set(`${at}|${name}`, values);
    }
  }
  return waiting;
}

/** Returns the branches of a `case`: one for each action, with all places that need it. */
export function cases(done: Iterable<readonly [place: string, what: string]>): string {
  const placesOf = new Map<string, string[]>();
  for (const [place, what] of done) {
    if (what !== "") placesOf.set(what, [...(placesOf.get(what) ?? []), quoted(place)]);
  }
  return [...placesOf]
    .map(([what, places]) => `      ${places.join(" | ")}) ${what} ;;`)
    .join("\n");
}

/**
 * Returns the body of the loop over the words that both bash and zsh understand. It sets `at` to
 * the command that the word leads to, and `before` to the word, unless the word is the value of an
 * option.
 */
export function stepLines(places: readonly CommandPlace[]): string {
  const waiting = [...waitingOptions(places).keys()];
  return `    case "$at|$before" in
      ${waiting.map(quoted).join(" | ")}) before=''; continue ;;
    esac
    before="$word"
    case "$at|$word" in
      ${steps(places).map(quoted).join(" | ")}) at="\${at:+$at }$word" before='' ;;
    esac`;
}

/** Returns each step from a command to one of its subcommands, such as `migrate|plan`. */
export function steps(places: readonly CommandPlace[]): string[] {
  return places.flatMap(({ at, commands }) => commands.map(({ name }) => `${at}|${name}`));
}
