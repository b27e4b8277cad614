import type { CommandPlace, Values } from "./command-places.js";

/** A text in single quotes, as bash and zsh read it. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Each place in which an option waits for its value, as `migrate plan|--config`, with what the value is. */
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

/**
 * The cases of a `case`, as bash and zsh read them: one for each thing to be done, with all places in which it is. Places in
 * which nothing is to be done have none.
 */
export function cases(done: Iterable<readonly [place: string, what: string]>): string {
  const placesOf = new Map<string, string[]>();
  for (const [place, what] of done) {
    if (what !== "") placesOf.set(what, [...(placesOf.get(what) ?? []), quoted(place)]);
  }
  return [...placesOf]
    .map(([what, places]) => `      ${places.join(" | ")}) ${what} ;;`)
    .join("\n");
}

/** Each step from a command to one within it, as `migrate|plan`. */
export function steps(places: readonly CommandPlace[]): string[] {
  return places.flatMap(({ at, commands }) => commands.map(({ name }) => `${at}|${name}`));
}
