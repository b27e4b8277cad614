/**
 * `user:password@` of a URL. A password may contain any character but white space, `"` and a
 * backtick.
 */
const login = /\b([a-z][a-z0-9+.-]*:\/\/)[^\s"'`@/]*(?::[^\s"`]*)?@/gi;

/** The same, of a URL with an unknown scheme. It is taken for a path, which has one slash. */
const pathLogin = /\b([a-z][a-z0-9+.-]*:\/)[^\s"'`@/:]+:[^\s"`]*@/gi;

/** `?password=…` of a URL, which PostgreSQL reads too. */
const parameter = /([?&](?:password|sslpassword|token)=)[^&#\s"'`\\]+/gi;

const variables = ["KEYWRIGHT_TOKEN", "KEYWRIGHT_READ_TOKEN", "DENO_KV_ACCESS_TOKEN"];

/** Removes the logins and passwords of URLs from a text, and the tokens of the environment. */
export function withoutSecrets(text: string): string {
  let safe = text.replace(login, "$1…@").replace(pathLogin, "$1…@").replace(parameter, "$1…");
  for (const name of variables) {
    const token = process.env[name];
    if (token) safe = safe.replaceAll(token, "…");
  }
  return safe;
}
