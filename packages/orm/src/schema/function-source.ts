/** Behind these words a slash begins a regular expression, as it does behind most signs. */
const wordsBeforeExpression =
  /(?:^|[^\w$.])(?:return|typeof|case|in|of|void|delete|do|else|instanceof|new|throw|yield|await)$/;
const word = /[\w$\u0080-\uffff]/;

/**
 * The source of a function without what differs between two ways to write it: comments, space, the kind of quotes, the parentheses
 * around a single parameter, commas behind the last of several things, semicolons at the end of a block. Texts and regular
 * expressions stay as they are.
 */
export function functionSource(fn: (value: never) => unknown): string {
  const source = Function.prototype.toString.call(fn);
  let text = "";
  let hasSpace = false;
  const put = (token: string) => {
    if (hasSpace && word.test(text.at(-1) ?? "") && word.test(token[0] ?? "")) text += " ";
    hasSpace = false;
    text += token;
  };
  for (let at = 0; at < source.length; ) {
    const end = tokenEnd(source, at, text);
    const token = source.slice(at, end);
    at = end;
    if (/^\s/.test(token) || isComment(token)) hasSpace = true;
    else put(unquoted(token));
  }
  return text.replace(/^\(([\w$]+)\)=>/, "$1=>").replace(/;+$/, "");
}

/** Where the token ends that begins here: a comment, space, a text, a regular expression, or one character. */
function tokenEnd(source: string, at: number, before: string): number {
  const char = source[at];
  const rest = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const [found = ""] = pattern.exec(source) ?? [];
    return at + Math.max(found.length, 1);
  };
  if (char === '"') return rest(/"(?:[^"\\]|\\.)*"/sy);
  if (char === "'") return rest(/'(?:[^'\\]|\\.)*'/sy);
  if (char === "`") return templateEnd(source, at);
  if (char === "/" && source[at + 1] === "/") return rest(/\/\/[^\n]*/y);
  if (char === "/" && source[at + 1] === "*") return rest(/\/\*.*?\*\//sy);
  if (char === "/" && isBeforeExpression(before))
    return rest(/\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y);
  return rest(/\s+/y);
}

function isComment(token: string): boolean {
  return token.length > 1 && (token.startsWith("//") || token.startsWith("/*"));
}

function isBeforeExpression(before: string): boolean {
  return before === "" || !/[\w$)\]"'`]$/.test(before) || wordsBeforeExpression.test(before);
}

/** A text in the quotes that JSON has, where its own say nothing else. */
function unquoted(token: string): string {
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
