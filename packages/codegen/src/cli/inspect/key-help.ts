/** The notation of keys, for the help of commands that accept keys. */
export const keyHelp = `
A key is a JSON array, in quotes for the shell: '["users", 1n, b64:AQID, true, 3.5]'. Its parts are:
  "users"            a string, always with quotes
  3.5  -0  NaN  -NaN  Infinity  -Infinity
                     a number; 1 and 1n are different parts
  1n  -20n           a bigint
  b64:AQID  b64:     bytes (Uint8Array), in base64 with padding
  true  false        a boolean
In the JSON of --json and exports, {"$": "1n"} represents the word 1n. Such parts are also accepted.`;
