import type { Buffer } from "node:buffer";
import { createHash, timingSafeEqual } from "node:crypto";
import { InvalidOptionError } from "@keywright/core";
import type { TokenUse } from "./token-use.js";

/** `read` allows reading and watching, `write` everything. */
export type TokenAccess = "read" | "write";

/** A token of a server. A string alone allows reading and writing. */
export type Token = string | { readonly token: string; readonly access: TokenAccess };

const shortest = 16;

/** What a token gives, and what its clients hold. */
export interface KnownToken {
  readonly access: TokenAccess;
  readonly use: TokenUse;
}

/** The tokens of a server, kept as hashes. */
export class Tokens {
  readonly #tokens: readonly (KnownToken & { readonly hash: Buffer })[];

  /**
   * @param newUse is called for each token.
   * @throws {InvalidOptionError} if there is no token, or if one is too short.
   */
  constructor(tokens: readonly Token[] | undefined, newUse: () => TokenUse) {
    if (!Array.isArray(tokens) || tokens.length === 0)
      throw new InvalidOptionError("tokens", "must have at least one token", "serve");
    this.#tokens = tokens.map((each: Token) => {
      const { token, access } =
        typeof each === "string" ? { token: each, access: "write" as const } : each;
      // The text does not contain the token.
      if (typeof token !== "string" || token.length < shortest)
        throw new InvalidOptionError(
          "tokens",
          `must have at least ${shortest} characters each`,
          "serve",
        );
      if (access !== "read" && access !== "write")
        throw new InvalidOptionError("tokens", 'must have the access "read" or "write"', "serve");
      return { hash: hashOf(token), access, use: newUse() };
    });
  }

  /**
   * Returns what a token gives, or undefined if it is not one of the server. Takes the same time
   * for every token.
   */
  find(token: string): KnownToken | undefined {
    const hash = hashOf(token);
    let found: KnownToken | undefined;
    for (const each of this.#tokens) if (timingSafeEqual(hash, each.hash)) found = each;
    return found;
  }
}

function hashOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
