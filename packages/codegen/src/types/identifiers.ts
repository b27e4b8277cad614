/** `userPosts`, `user_posts` and `UserPosts` consist of `user` and `posts`. */
function wordsOf(name: string): string[] {
  return name
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}

/** `userPosts` → `UserPosts`. Empty if the name has no letters or digits. */
export function pascalCase(name: string): string {
  return wordsOf(name)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
}

/** `user_posts` → `userPosts`. */
export function camelCase(name: string): string {
  const [first = "", ...rest] = wordsOf(name);
  return first.toLowerCase() + pascalCase(rest.join(" "));
}

/** `userPosts` → `user-posts`. */
export function kebabCase(name: string): string {
  return wordsOf(name).join("-").toLowerCase();
}

/** True for unquoted property names, also if they are reserved words. */
export function isIdentifier(name: string): boolean {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name);
}

const reservedWords: ReadonlySet<string> = new Set(
  (
    "arguments await break case catch class const continue debugger default delete do else enum eval export extends " +
    "false finally for function if implements import in instanceof interface let new null package private protected " +
    "public return static super switch this throw true try typeof var void while with yield"
  ).split(" "),
);

/** True if the name can be the name of a variable or a parameter. */
export function isVariableName(name: string): boolean {
  return isIdentifier(name) && !reservedWords.has(name);
}

/** Returns the name of a property as it is written in a type, quoted if necessary. */
export function propertyName(name: string): string {
  return isIdentifier(name) ? name : JSON.stringify(name);
}
