import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { ormOnServer } from "../../vitest.orm-on-server.mjs";
import announceSkipped from "./test/server/announce-skipped.js";
import { hasEtcd } from "./test/server/has-etcd.js";

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));

announceSkipped();

/** The tests of the ORM on a member of etcd. */
export default defineConfig(
  ormOnServer({
    isInstalled: hasEtcd,
    openKv: path("test/server/open-on-server.ts"),
    globalSetup: path("test/server/start-member.ts"),
  }),
);
