import { randomInt } from "node:crypto";
import { Command, InvalidArgumentError } from "commander";
import { ConfigInvalidError } from "../../errors/codegen-errors.js";
import { SeedNotEmptyError } from "../../errors/seed-errors.js";
import { rowProgress } from "../../progress/row-progress.js";
import type { SeedConfig } from "../../project/config/config.js";
import type { LoadedConfig } from "../../project/config/load-config.js";
import type { NamedModel } from "../../project/models/model-names.js";
import { type OpenProject, withProject } from "../../project/open-project.js";
import { databaseTarget, repositoryOf } from "../../seed/database-target.js";
import { findReferences } from "../../seed/find-references.js";
import { mayLackParents, rehearse } from "../../seed/rehearse.js";
import type { SeedModel } from "../../seed/seed-model.js";
import { type SeedOutcome, seedRows } from "../../seed/seed-rows.js";
import { loadFakes } from "../../seed/values/load-fakes.js";
import { type ExitCode, exitCodes } from "../terminal/process/exit-codes.js";
import { interruptible } from "../terminal/process/interruptible.js";
import { type ResultOptions, withResultOptions } from "../terminal/run-options.js";
import type { Terminal } from "../terminal/terminal.js";
import { unknownText } from "../terminal/text/unknown-text.js";
import { helpText } from "../terminal/text/wrap.js";
import { writeJson } from "../terminal/write-json.js";
import { writeSeedText } from "./seed-text.js";

const help = helpText(`
The values fit the schemas: formats, limits, patterns and refinements. Rows refer to generated or existing
rows, and keys of unique indexes differ. The same seed and the same numbers of rows give the same rows in an
empty database. The values come from two packages that the project installs:
  npm install --save-dev @faker-js/faker randexp

The setting seed of keywright.config.ts sets fields by model, or runs code of its own:
  export default defineConfig({
    models: "src/models/*.ts",
    output: "src/db",
    database: () => openKv("data/app"),
    seed: {
      rows: { users: 100, posts: 500 },
      models: { users: { role: "member", code: ({ index }) => \`C\${index}\` } },
      run: async ({ db }) => {
        await db.users.create({ data: { name: "Ada", email: "ada@example.com" } });
      },
    },
  });

Rows are written in batches. After Ctrl-C or an error, those of earlier batches stay.

Examples:
  $ keywright seed --rows users=10 --dry-run       print some rows
  $ keywright seed --rows users=100,posts=500      rows of two models
  $ keywright seed --rows 20 --seed 42             20 rows of each model, always the same
  $ keywright seed --rows posts=500 --append       more rows, which refer to existing ones

Exit codes: 0 done, 1 failed or stopped, 2 wrong usage.`);

/** The number of rows of each model without `--rows` and without a setting. */
const defaultRows = 10;
const maxSeed = 2 ** 31 - 1;

interface SeedCommandOptions extends ResultOptions {
  readonly rows?: RowCounts;
  readonly seed?: number;
  readonly append?: boolean;
  readonly dryRun?: boolean;
}

/** The result of the command, as `--json` prints it. */
interface SeedResult extends SeedOutcome {
  readonly seed: number;
  readonly dryRun: boolean;
}

export function seedCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  const command: Command = withResultOptions(
    new Command("seed")
      .description("create generated rows for development")
      .option(
        "--rows <counts>",
        `the rows of each model, as in 100 or users=100,posts=500; the default is ${defaultRows}`,
        rowCounts,
      )
      .option(
        "--seed <n>",
        "a number that repeats the same rows; the default is random",
        seedNumber,
      )
      .option("--append", "add rows to a database that is not empty")
      .option("--dry-run", "print some of the rows, and write nothing"),
  )
    .addHelpText("after", help)
    .action(async (options: SeedCommandOptions) => {
      const { folder } = terminal;
      const result = await withProject(
        folder,
        options.config,
        async (project) => {
          const models = seedModels(project, options.rows, (unknown, known) =>
            command.error(`error: option '--rows': ${unknownText("model", unknown, known)}`),
          );
          return await runSeed(terminal, project, models, options);
        },
        options.dryRun ? "empty" : "create",
      );
      if (options.json) writeJson(terminal, result);
      else writeSeedText(terminal, result);
      exit(result.status === "done" ? exitCodes.done : exitCodes.failed);
    });
  return command;
}

async function runSeed(
  terminal: Terminal,
  project: OpenProject,
  models: readonly SeedModel[],
  { seed = randomInt(maxSeed), append = false, dryRun = false }: SeedCommandOptions,
): Promise<SeedResult> {
  const { config, database } = project;
  if (!append) await assertEmpty(project, models);
  return await interruptible(terminal, async (signal) => {
    let progress: ReturnType<typeof rowProgress> | undefined;
    let shown: string | undefined;
    const onProgress = ({ model, count }: SeedModel, done: number) => {
      if (dryRun || signal.aborted) return;
      if (shown !== model.name) progress?.stop();
      if (shown !== model.name) progress = rowProgress(model.name, { stream: terminal.stderr });
      shown = model.name;
      progress?.update(done, count);
    };
    signal.addEventListener("abort", () => progress?.stop(), { once: true });
    try {
      const target = databaseTarget(project, dryRun, onProgress);
      if (!dryRun && mayLackParents(models))
        await rehearse(models, await loadFakes(config.folder, seed), target, signal);
      // With the same seed, the rows are those of the rehearsal.
      const fakes = await loadFakes(config.folder, seed);
      const outcome = await seedRows(models, fakes, target, signal);
      progress?.stop();
      const { run } = settingsOf(config);
      if (run !== undefined && !dryRun && outcome.status === "done")
        await run({ db: database, faker: fakes.faker, seed });
      return { ...outcome, seed, dryRun };
    } finally {
      progress?.stop();
    }
  });
}

/** @throws {SeedNotEmptyError} if a model of the project has rows. */
async function assertEmpty({ database }: OpenProject, models: readonly SeedModel[]): Promise<void> {
  const filled: string[] = [];
  for (const { model, property } of models) {
    const { items } = await repositoryOf(database, property).scan({ take: 1 });
    if (items.length > 0) filled.push(model.name);
  }
  if (filled.length > 0) throw new SeedNotEmptyError({ models: filled });
}

function settingsOf({ seed }: LoadedConfig): SeedConfig {
  return typeof seed === "function" ? { rows: {}, run: seed } : (seed ?? {});
}

/**
 * Returns all models of a project, each with the number of rows that are asked for.
 *
 * @param onUnknown is called with a name in `--rows` that no model has, and ends the command.
 */
function seedModels(
  { config, models }: OpenProject,
  asked: RowCounts | undefined,
  onUnknown: (name: string, known: readonly string[]) => never,
): SeedModel[] {
  const { rows, models: fields = {} } = settingsOf(config);
  const known = models.map(({ names }) => names.property);
  const counts = asked ?? rows ?? defaultRows;
  if (typeof counts === "object") {
    for (const name of Object.keys(counts)) {
      if (known.includes(name)) continue;
      if (asked !== undefined) onUnknown(name, known);
      throw new ConfigInvalidError({
        path: config.path,
        at: `seed.rows.${name}`,
        reason: unknownText("model", name, known),
      });
    }
  }
  assertFields(config, models);
  const references = findReferences(models.map(({ model }) => model));
  return models.map(({ model, names: { property } }) => ({
    model,
    property,
    count: typeof counts === "number" ? counts : (counts[property] ?? 0),
    isCountNamed: typeof counts === "object",
    fields: fields[property] ?? {},
    references: references.get(model.name) ?? [],
  }));
}

/** @throws {ConfigInvalidError} if the setting `seed.models` names what does not exist. */
function assertFields(config: LoadedConfig, models: readonly NamedModel[]): void {
  for (const [name, fields] of Object.entries(settingsOf(config).models ?? {})) {
    const found = models.find(({ names }) => names.property === name);
    const at = `seed.models.${name}`;
    if (found === undefined) {
      const known = models.map(({ names }) => names.property);
      throw new ConfigInvalidError({
        path: config.path,
        at,
        reason: unknownText("model", name, known),
      });
    }
    const known = Object.keys(found.model.schema.shape);
    for (const field of Object.keys(fields)) {
      if (known.includes(field)) continue;
      throw new ConfigInvalidError({
        path: config.path,
        at: `${at}.${field}`,
        reason: unknownText("field", field, known),
      });
    }
  }
}

/** How many rows of each model: of all models, or of those that are named. */
type RowCounts = number | Readonly<Record<string, number>>;

/**
 * Parses the value of `--rows`: `100` for all models, or `users=100,posts=500`. Commander reports
 * the error with the name of the option.
 */
function rowCounts(text: string): RowCounts {
  const isCount = (part: string) => /^[0-9]{1,12}$/.test(part);
  if (isCount(text)) return Number(text);
  const counts: Record<string, number> = {};
  for (const part of text.split(",")) {
    const [name = "", count = "", ...rest] = part.trim().split("=");
    if (name === "" || !isCount(count) || rest.length > 0 || Object.hasOwn(counts, name))
      throw new InvalidArgumentError("Write a number, or numbers by model: users=100,posts=500.");
    counts[name] = Number(count);
  }
  return counts;
}

function seedNumber(text: string): number {
  const seed = /^[0-9]{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (seed <= maxSeed) return seed;
  throw new InvalidArgumentError(`It must be a whole number up to ${maxSeed}.`);
}
