// The layers. The rooms and their order are in rooms.mjs.
import { packages as listed } from "./rooms.mjs";

/** From the bottom up: what comes first never imports what comes later. */
const packages = ["core", "orm", "codegen"];
/** Packages of engines with a client of their own, and the server. They depend only on core. */
const engines = ["etcd", "postgres", "lmdb", "sqlite", "server"];
/** Packages that only the command loads, if a project has them. */
const optional = ["studio"];
const either = (names) => `(${names.join("|")})`;

/** One rule per package: it imports no package above it. */
const packageRules = packages.slice(0, -1).map((name, i) => ({
  name: `${name}-is-below-${packages[i + 1]}`,
  comment: `@keywright/${name} knows nothing of the packages above it.`,
  severity: "error",
  from: { path: `^packages/${name}/` },
  // By name too: a package that isn't a dependency doesn't resolve to its folder.
  to: { path: `^(packages|@keywright)/${either(packages.slice(i + 1))}(/|$)` },
}));

/** One rule per engine: its sources import only core, and no other package imports it. */
const engineRules = engines.flatMap((name) => [
  {
    name: `${name}-is-above-core-only`,
    severity: "error",
    from: { path: `^packages/${name}/src/` },
    to: {
      path: `^(packages|@keywright)/${either([...packages, ...engines].filter((other) => other !== "core" && other !== name))}(/|$)`,
    },
  },
  {
    name: `no-package-imports-${name}`,
    severity: "error",
    from: { path: "^packages/", pathNot: `^packages/${name}/` },
    to: { path: `^(packages|@keywright)/${name}(/|$)` },
  },
]);

/** One rule per optional package: its sources import core and orm, and no package imports it. */
const optionalRules = optional.flatMap((name) => [
  {
    name: `${name}-is-above-core-and-orm-only`,
    severity: "error",
    from: { path: `^packages/${name}/(src|page)/` },
    to: { path: `^(packages|@keywright)/${either(["codegen", ...engines])}(/|$)` },
  },
  {
    name: `no-package-imports-${name}`,
    severity: "error",
    from: { path: "^packages/", pathNot: `^packages/${name}/` },
    to: { path: `^(packages|@keywright)/${name}(/|$)` },
  },
]);

/** The sources of the crons import only core. The studio imports them. */
const cronRule = {
  name: "cron-is-above-core-only",
  severity: "error",
  from: { path: "^packages/cron/src/" },
  to: {
    path: `^(packages|@keywright)/${either(["orm", "codegen", ...engines, ...optional])}(/|$)`,
  },
};

/** The files of a room: those in its folder, except in folders that are rooms themselves. */
const filesOf = (room, names) => {
  const inner = names.filter((name) => name.startsWith(`${room}/`));
  const others = inner.map((name) => `(?!${name.slice(room.length + 1)}/)`).join("");
  return `${room}/${others}`;
};

/**
 * One rule per room: it imports only itself and the rooms before it. A file beside the rooms, such
 * as index.ts, may import all of them.
 */
const roomRules = Object.entries(listed).flatMap(([name, { rooms }]) => {
  const names = Object.keys(rooms);
  return [
    ...names.map((room, i) => ({
      name: `${name}-room-${room}`,
      comment: `The rooms of ${name}, from the ground up: ${names.join(" < ")}.`,
      severity: "error",
      from: { path: `^packages/${name}/src/${filesOf(room, names)}` },
      to: {
        path: `^packages/${name}/src/`,
        pathNot: `^packages/${name}/src/${either(names.slice(0, i + 1).map((below) => filesOf(below, names)))}`,
      },
    })),
    {
      name: `${name}-room-without-a-place`,
      comment: "A new room needs its place in rooms.mjs.",
      severity: "error",
      from: {},
      to: {
        path: `^packages/${name}/src/[^/]+/`,
        pathNot: `^packages/${name}/src/${either(names.map((room) => filesOf(room, names)))}`,
      },
    },
  ];
});

export default {
  forbidden: [
    ...packageRules,
    ...engineRules,
    ...optionalRules,
    cronRule,
    ...roomRules,
    {
      name: "no-circular",
      comment:
        "Types count too: a circle of types is a circle to its reader. Generated files import the row types of related models, which may be each other's.",
      severity: "error",
      from: { pathNot: "/fixtures/[^/]+/(src/)?generated/" },
      to: { circular: true },
    },
    {
      name: "only-through-exports",
      comment:
        "Another workspace is imported by its package name, never by a path into its folder.",
      severity: "error",
      from: { path: "^(packages|examples|docs|benchmarks)/([^/]+)/" },
      to: {
        path: "^(packages|examples)/",
        pathNot: "^$1/$2/",
        dependencyTypesNot: ["aliased-workspace"],
      },
    },
    {
      name: "src-not-to-test",
      severity: "error",
      from: { path: "^(packages|examples)/[^/]+/src/" },
      to: { path: "^(packages|examples)/[^/]+/test/" },
    },
    {
      name: "src-not-to-dev-dependency",
      comment: "Users of a package don't get its devDependencies, nor those of the workspace.",
      severity: "error",
      from: { path: "^packages/[^/]+/src/" },
      to: { dependencyTypes: ["npm-dev"], dependencyTypesNot: ["npm", "npm-peer"] },
    },
    {
      name: "no-undeclared-dependency",
      comment: "What is imported stands in package.json.",
      severity: "error",
      from: {},
      to: { dependencyTypes: ["npm-no-pkg", "npm-unknown"] },
    },
    {
      name: "no-unresolvable",
      severity: "error",
      from: {},
      // Only workerd has this module.
      to: { couldNotResolve: true, pathNot: "^cloudflare:workers$" },
    },
  ],
  options: {
    // Imports of types are dependencies too; the compiler removes them.
    tsPreCompilationDeps: true,
    // Tests use the test runner of the workspace's own package.json.
    combinedDependencies: true,
    // Other packages are seen as their users see them: through exports, built.
    doNotFollow: { path: ["node_modules", "/dist/"] },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "types", "node", "default"],
    },
  },
};
