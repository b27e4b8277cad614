/** The words of a name, however they are set apart: `userPosts`, `user_posts` and `UserPosts` are `user`, `posts`. */
function wordsOf(name: string): string[] {
  return name
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}

/** `userPosts` → `UserPosts`. Empty for a name without letters and digits. */
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

/** Whether a name can stand unquoted as a property; a reserved word can, though it names no variable. */
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

/** Whether a name can be that of a variable or a parameter. */
export function isVariableName(name: string): boolean {
  return isIdentifier(name) && !reservedWords.has(name);
}

/** A property's name as it stands in a type: quoted where it has to be. */
export function propertyName(name: string): string {
  return isIdentifier(name) ? name : JSON.stringify(name);
}
