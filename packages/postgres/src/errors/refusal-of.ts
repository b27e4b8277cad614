import { EngineUnavailableError } from "@keywright/core";
import { PostgresRefusedError } from "./postgres-errors.js";

type Text = readonly [reason: string, remedy: string];

const privileges = "Grant the privileges that the README of @keywright/postgres lists";

/** By SQLSTATE. The server answers in this way until somebody changes its settings. */
const refusals: Readonly<Record<string, Text>> = {
  "28P01": ["the user or the password is wrong", "Correct them in the connection string"],
  "28000": [
    "this user may not connect from here",
    "Correct the user or the option ssl, or change pg_hba.conf of the server",
  ],
  "3D000": ["the database does not exist", "Create it with createdb, or correct its name"],
  "42501": ["the user lacks a privilege", privileges],
  "42P01": ["the table of the engine does not exist", "Open the engine again, which creates it"],
  "42883": ["the function of the engine does not exist", "Open the engine again, which creates it"],
  "3F000": ["there is no schema to create the table in", "Create it, or change search_path"],
};

/** By SQLSTATE, or the code of an error of the engine. The server may answer otherwise soon. */
const troubles: Readonly<Record<string, Text>> = {
  "53300": ["it has no free connection", "Lower maxConnections, or raise max_connections"],
  "53100": ["its disk is full", "Free space on the disk of the server"],
  "25006": [
    "it accepts no writes, because it is a standby or read-only",
    "Name the primary in the connection string, or promote the standby",
  ],
  POOL_BUSY: [
    "all connections of this engine were in use",
    "Raise maxConnections, or look for what slows the server down",
  ],
  "57014": ["it did not finish a statement in time", "Look for what blocks it, or raise deadline"],
};

const unreachable: Text = [
  "no server answers",
  "Start the server, or correct the hosts and ports of the connection string",
];

/** Returns the error of a server that will not answer otherwise soon, or undefined. */
export function refusalOf(error: unknown): PostgresRefusedError | undefined {
  const { code } = (error ?? {}) as { code?: string };
  const text = refusals[code ?? ""] ?? (isOfTls(error) ? tls : undefined);
  return text && new PostgresRefusedError(text[0], text[1], error);
}

const tls: Text = [
  "no TLS connection can be made with these settings",
  "Correct the option ssl: its certificate authority must have signed the server's certificate, and the server must support TLS",
];

/** Returns the error of a server that did not answer as it should until the deadline. */
export function unavailable(error: unknown): EngineUnavailableError {
  const { code } = error as { code?: string };
  const [reason, remedy] = troubles[code ?? ""] ?? unreachable;
  return new EngineUnavailableError(reason, remedy, error);
}

/** True if the server has answered, with an error: it has certainly not applied the statement. */
export function isAnswer(error: unknown): boolean {
  const { code, severity } = error as { code?: string; severity?: string };
  // A session that ends (class 57P) may end after its commit and before its answer.
  return severity !== undefined && code !== undefined && !/^(57P|08)/.test(code);
}

function isOfTls(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code = "" } = error as { code?: string };
  return (
    /SSL|TLS|CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/.test(code) ||
    /does not support SSL|SSL connection/.test(error.message)
  );
}
