/** Returns the message for a name on the command line that does not exist. */
export function unknownText(what: string, name: string, known: readonly string[]): string {
  const list = known.length === 0 ? "there is none" : `choose from ${known.join(", ")}`;
  return `there is no ${what} ${name}: ${list}`;
}
