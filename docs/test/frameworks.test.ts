import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "./pages.js";

const page = readFileSync(join(root, "docs/frameworks.md"), "utf8");
const programs = join(root, "builds/frameworks");

describe("docs/frameworks.md", () => {
  it.each([
    ["dockerfile", "docker/Dockerfile"],
    ["ini", "systemd/app.service"],
    ["js", "processes/ecosystem.config.cjs"],
  ])("shows the %s file that the tests use", (language, file) => {
    const blocks = [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"))];
    expect(blocks.map(([, text]) => text)).toContain(readFileSync(join(programs, file), "utf8"));
  });

  it.each([
    ["Hono", "../../examples/hono", "hono"],
    ["Express", "express", "express"],
    ["Fastify", "fastify", "fastify"],
    ["Next.js", "next", "next"],
    ["SvelteKit", "sveltekit", "@sveltejs/kit"],
    ["Vite, server-side rendering", "vite", "vite"],
    ["Jest", "jest", "jest"],
    ["Vitest", "vitest", "vitest"],
    ["PM2", "processes", "pm2"],
  ])("names the version of %s that is tested", (title, folder, name) => {
    const text = readFileSync(join(programs, folder, "package.json"), "utf8");
    const { dependencies, devDependencies } = JSON.parse(text);
    const version = { ...dependencies, ...devDependencies }[name];
    expect(page).toContain(`\n| ${title} | ${version} | `);
  });
});
