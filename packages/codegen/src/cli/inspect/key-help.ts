/** The notation of keys, for the help of commands that accept keys. */
export const keyHelp = `
Keys are JSON arrays, in quotes for the shell, in which some parts are words without quotes:
  "users"               a text, as in JSON; it always has quotes, so that "1n" and "b64:AQID" are texts
  1n  -20n              a bigint
  b64:AQID  b64:        bytes (Uint8Array), in base64 with its padding
  3.5  -0  NaN  -NaN  Infinity  -Infinity    numbers; 1 and 1n are different keys
  true  false
As in '["users", 1n, b64:AQID, true, 3.5]'. In JSON, as of --json and export, {"$": "1n"} stands for such a word;
keys of that form are taken, too.`;
