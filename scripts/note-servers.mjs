// Imported before turbo: `node --import ./scripts/note-servers.mjs`. Tells it which servers are
// installed, so that it does not repeat the result of tests that were skipped without them.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";

const debianFolder = "/usr/lib/postgresql";
const etcd = spawnSync("etcd", ["--version"], { encoding: "utf8" }).stdout?.split("\n")[0];
const postgres = existsSync(debianFolder) ? readdirSync(debianFolder) : [];

process.env.KEYWRIGHT_SERVERS = [etcd ?? "no etcd", "PostgreSQL", ...postgres].join(" ");
