import { randomUUID } from "node:crypto";
import { decodeValue, encodeValue } from "@keywright/core";
import type { ServedDatabase } from "@keywright/core/serve";
import type { Endpoints } from "../http/endpoints.js";
import { RequestError } from "../http/request-error.js";

/** The key under which the database stores its id, which clients send with each request. */
const idKey = Uint8Array.of(0x00, 0x08);
const versions = [3, 2, 1];
/** How long a client uses what it is told. */
const validFor = 24 * 3600 * 1000;

/** Returns the id of a database. It is made once and stays the same. */
export async function databaseId({ engine, commit }: ServedDatabase): Promise<string> {
  for (;;) {
    const stored = await engine.get(idKey);
    if (stored !== undefined) return String(decodeValue(stored.value));
    const checks = [{ key: idKey, versionstamp: null }];
    const value = encodeValue(randomUUID());
    await commit({ checks, mutations: [{ type: "set", key: idKey, value }], sync: true });
  }
}

/**
 * Answers the metadata exchange of KV Connect.
 *
 * @param body JSON with the versions that the client knows, or nothing for version 1.
 * @param endpoints version 1 needs an absolute URL, and later versions have a relative one.
 */
export function metadata(
  body: Uint8Array,
  { uuid, endpoints, token }: { uuid: string; endpoints: Endpoints; token: string },
): unknown {
  const version = versions.find((each) => supported(body).includes(each));
  if (version === undefined)
    throw new RequestError(400, `The versions of KV Connect here are ${versions.join(", ")}.`);
  const url = version === 1 ? endpoints.absolute : endpoints.relative;
  if (url === undefined)
    throw new RequestError(
      400,
      "Version 1 of KV Connect needs the option publicUrl of this server. Later versions do not.",
    );
  return {
    version,
    databaseId: uuid,
    endpoints: [{ url, consistency: "strong" }],
    token,
    expiresAt: new Date(Date.now() + validFor).toISOString(),
  };
}

function supported(body: Uint8Array): readonly unknown[] {
  if (body.length === 0) return [1];
  let request: unknown;
  try {
    request = JSON.parse(new TextDecoder().decode(body));
  } catch {
    throw new RequestError(400, "The body is not JSON.");
  }
  const known = (request as { supportedVersions?: unknown } | null)?.supportedVersions;
  if (!Array.isArray(known)) throw new RequestError(400, "supportedVersions must be a list.");
  return known;
}
