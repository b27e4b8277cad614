/** After these words a slash begins a regular expression, as it does after most punctuation. */
const wordsBeforeExpression =
  /(?:^|[^\w$.])(?:return|typeof|case|in|of|void|delete|do|else|instanceof|new|throw|yield|await)$/;
const word = /[\w$\u0080-\uffff]/;

/**
 * Returns the source of a function without comments, white space between tokens, parentheses around
 * a single parameter and semicolons at its end, and with double quotes. Databases store a hash of
 * the result, so it must never change. Other differences without meaning remain, such as a trailing
 * comma or a semicolon within the function.
 */
export function functionSource(fn: (value: never) => unknown): string {
  const source = Function.prototype.toString.call(fn);
  let text = "";
  let hasSpace = false;
  const append = (token: string) => {
    if (hasSpace && word.test(text.at(-1) ?? "") && word.test(token[0] ?? "")) text += " ";
    hasSpace = false;
    text += token;
  };
  for (let at = 0; at < source.length; ) {
    const end = tokenEnd(source, at, text);
    const token = source.slice(at, end);
    at = end;
    if (/^\s/.test(token) || isComment(token)) hasSpace = true;
    else append(withDoubleQuotes(token));
  }
  return text.replace(/^\(([\w$]+)\)=>/, "$1=>").replace(/;+$/, "");
}

/** Returns the end of the comment, white space, string, expression or character at `at`. */
function tokenEnd(source: string, at: number, before: string): number {
  const char = source[at];
  const endOfMatch = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const [found = ""] = pattern.exec(source) ?? [];
    return at + Math.max(found.length, 1);
  };
  if (char === '"') return endOfMatch(/"(?:[^"\\]|\\.)*"/sy);
  if (char === "'") return endOfMatch(/'(?:[^'\\]|\\.)*'/sy);
  if (char === "`") return templateEnd(source, at);
  if (char === "/" && source[at + 1] === "/") return endOfMatch(/\/\/[^\n]*/y);
  if (char === "/" && source[at + 1] === "*") return endOfMatch(/\/\*.*?\*\//sy);
  if (char === "/" && isBeforeExpression(before))
    return endOfMatch(/\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y);
  return endOfMatch(/\s+/y);
}

function isComment(token: string): boolean {
  return token.length > 1 && (token.startsWith("//") || token.startsWith("/*"));
}

function isBeforeExpression(before: string): boolean {
  return before === "" || !/[\w$)\]"'`]$/.test(before) || wordsBeforeExpression.test(before);
}

/** Returns a string token in double quotes, if it can have them without escapes. */
function withDoubleQuotes(token: string): string {
  const isSimple = token.length > 1 && token.startsWith("'") && !/["\\]/.test(token);
  return isSimple ? `"${token.slice(1, -1)}"` : token;
}

function templateEnd(source: string, start: number): number {
  let depth = 0;
  for (let at = start + 1; at < source.length; at++) {
    const char = source[at];
    if (char === "\\") at++;
    else if (depth === 0 && char === "`") return at + 1;
    else if (char === "$" && source[at + 1] === "{") {
      depth++;
      at++;
    } else if (depth > 0 && char === "`") at = templateEnd(source, at) - 1;
    else if (depth > 0 && char === "{") depth++;
    else if (depth > 0 && char === "}") depth--;
  }
  return source.length;
}
