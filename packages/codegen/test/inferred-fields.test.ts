import { readdir, rm } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { config, createProject, modelModule, type Project } from "./project.js";

const user = modelModule("User", "users");
const branded = user.replace("z.email()", 'z.email().brand<"Email">()');

const emailModule = 'import * as z from "zod";\nexport const Email = z.email().brand<"Email">();\n';
const importing = (specifier: string) =>
  `import { Email } from "${specifier}";\n${user.replace("z.email()", "Email")}`;
const reference = "  email: z.output<typeof User.schema.shape.email>;";
const note =
  "note: TypeScript could not read the types of models/user.ts, so brands in it become plain types; correct its imports\n";

let project: Project;

beforeEach(async () => {
  project = await createProject({ "keywright.config.ts": config, "models/user.ts": branded });
});
afterEach(() => project.remove());

describe("keywright generate", () => {
  it("refers to a field with a brand, by the modules and options that tsconfig.json says", async () => {
    await project.write({
      "tsconfig.json":
        '{ "compilerOptions": { "module": "esnext", "moduleResolution": "bundler", "paths": { "#lib/*": ["./lib/*"] } } }',
      "lib/email.ts": emailModule,
      "models/user.ts": importing("#lib/email"),
    });
    expect(await project.run(["generate"])).toMatchObject({ exitCode: 0, stderr: "" });
    const generated = await project.read("db/users.ts");
    expect(generated).toContain(reference);
    // What is handed in has no brand yet.
    expect(generated).toMatch(/interface UserCreate \{[^}]*\n {2}email: string;/);
    expect((await project.run(["generate", "--check"])).exitCode).toBe(0);
  });

  it("reads types by the tsconfig.json that is referred to for the module", async () => {
    await project.write({
      "tsconfig.json":
        '{ "files": [], "references": [{ "path": "./tsconfig.node.json" }, { "path": "./tsconfig.app.json" }] }',
      "tsconfig.node.json": '{ "include": ["*.config.ts"] }',
      "tsconfig.app.json":
        '{ "compilerOptions": { "module": "esnext", "customConditions": ["own"], "allowImportingTsExtensions": true }, "include": ["models"] }',
      "package.json":
        '{ "type": "module", "imports": { "#email": { "own": "./lib/email.ts", "default": "./lib/plain.ts" } } }',
      "lib/email.ts": emailModule,
      "lib/plain.ts":
        'import * as z from "zod";\nexport const Email: z.ZodType<string> = z.email();\n',
      "models/user.ts": importing("#email"),
    });
    expect(await project.run(["generate"])).toMatchObject({ exitCode: 0, stderr: "" });
    const generated = await project.read("db/users.ts");
    expect(generated).toContain(reference);
    expect(generated).toContain('from "../models/user.ts"');
    expect((await project.run(["generate", "--check"])).exitCode).toBe(0);
  });

  it("follows imports that only a bundler takes, whatever tsconfig.json says", async () => {
    await project.write({
      "tsconfig.json": '{ "compilerOptions": { "module": "nodenext" } }',
      "lib/email.ts": emailModule,
      "models/user.ts": importing("../lib/email"),
    });
    expect(await project.run(["generate"])).toMatchObject({ exitCode: 0, stderr: "" });
    expect(await project.read("db/users.ts")).toContain(reference);
  });

  it("refers to fields of types that the project declares for all its files", async () => {
    await project.write({
      "tsconfig.json": '{ "include": ["models", "types"] }',
      "types/global.d.ts": 'type UserId = string & { readonly brand: "UserId" };\n',
      "types/other.ts":
        "declare global {\n  type Address = `${string}@${string}`;\n}\nexport {};\n",
      "models/user.ts": user
        .replace("z.ulid()", "z.ulid() as unknown as z.ZodType<UserId, string>")
        .replace("z.email()", "z.email() as unknown as z.ZodType<Address, string>"),
    });
    expect(await project.run(["generate"])).toMatchObject({ exitCode: 0, stderr: "" });
    const generated = await project.read("db/users.ts");
    expect(generated).toContain("  id: z.output<typeof User.schema.shape.id>;");
    expect(generated).toContain(reference);
    expect((await project.run(["generate", "--check"])).exitCode).toBe(0);
  });

  it("refers to fields of a browser's library and beside a class of one, where tsconfig.json has it", async () => {
    const withHome = (text: string, schema: string) =>
      text
        .replace(
          "export const",
          "type Uuid = ReturnType<typeof crypto.randomUUID>;\n\nexport const",
        )
        .replace("z.email()", `${schema}, home: z.instanceof(URL)`);
    await project.write({
      "tsconfig.json": '{ "compilerOptions": { "lib": ["ES2023", "DOM"], "types": [] } }',
      "models/user.ts": withHome(user, "z.email() as unknown as z.ZodType<Uuid, string>"),
      "models/town.ts": withHome(
        modelModule("Town", "towns"),
        'z.union([z.instanceof(URL), z.string().brand<"Email">()])',
      ),
    });
    expect(await project.run(["generate"])).toMatchObject({ exitCode: 0, stderr: "" });
    for (const [name, text] of [
      ["users", reference],
      ["towns", reference.replace("User", "Town")],
    ] as const) {
      const generated = await project.read(`db/${name}.ts`);
      expect(generated).toContain(text);
      expect(generated).toContain("  home: URL;");
    }
  });

  it("gives two equal types that contain themselves one name, beside a field with a brand", async () => {
    const tree =
      "() => { const node = z.object({ get parts() { return z.array(node); }, size: z.number() }); return node; }";
    const fields = 'email: z.email().brand<"Email">(), left: tree(), right: tree()';
    await project.write({
      "models/user.ts": user
        .replace("export const", `const tree = ${tree};\nexport const`)
        .replace("email: z.email()", fields),
    });
    expect(await project.run(["generate"])).toMatchObject({ exitCode: 0, stderr: "" });
    const generated = await project.read("db/users.ts");
    expect(generated).toContain(reference);
    expect(generated).toContain("  left: UserLeft;\n  right: UserLeft;\n");
    expect(generated).toMatch(/type UserLeft = \{\s*parts: UserLeft\[\];\s*size: number;?\s*\}/);
    expect(generated).not.toContain("UserRight");
  });

  it("spells fields out where the compiler finds no model to compare them with, and says so", async () => {
    const untyped = branded
      .replace("export const", "const define: any = defineModel;\n\nexport const")
      .replace("= defineModel(", "= define(");
    await project.write({ "models/user.ts": untyped });
    expect(await project.run(["generate"])).toMatchObject({ exitCode: 0, stderr: note });
    expect(await project.read("db/users.ts")).not.toContain("z.output");
    expect(await project.run(["generate", "--json"])).toMatchObject({ exitCode: 0, stderr: note });
  });

  it("says where the types of an import could not be read", async () => {
    await project.write({
      "lib/email.js": emailModule.replace('<"Email">', ""),
      "models/user.ts": importing("../lib/email.js"),
    });
    expect(await project.run(["generate"])).toMatchObject({ exitCode: 0, stderr: note });
  });

  it("refers to a field of a schema that is declared as any, and says nothing of that, nor of a field", async () => {
    const withEmail = (exportName: string, schema: string) =>
      modelModule(exportName, `${exportName}s`.toLowerCase()).replace("z.email()", schema);
    await project.write({
      "models/user.ts": user.replace("z.email()", "z.email() as z.ZodType<any>"),
      "models/town.ts": withEmail("Town", "z.any()"),
      "models/post.ts": withEmail("Post", "(z.email() as z.ZodType<any>)"),
    });
    expect(await project.run(["generate"])).toMatchObject({ exitCode: 0, stderr: "" });
    expect(await project.read("db/users.ts")).toContain(reference);
    const files = ["index.ts", "posts.ts", "towns.ts", "users.ts"];
    expect((await readdir(project.path("db"))).sort()).toEqual(files);
  });

  it("says nothing of a field that is declared as any, if another model is in JavaScript", async () => {
    await project.write({
      "keywright.config.ts": config.replace("*.ts", "*"),
      "models/user.ts": user.replace("z.email()", "z.email() as z.ZodType<any>"),
      "models/town.js": modelModule("Town", "towns"),
    });
    expect(await project.run(["generate"])).toMatchObject({ exitCode: 0, stderr: "" });
    expect(await project.read("db/users.ts")).toContain(reference);
  });

  it("says nothing of a model in JavaScript", async () => {
    await rm(project.path("models/user.ts"));
    await project.write({
      "keywright.config.ts": config.replace("*.ts", "user.*"),
      "models/user.js": user,
    });
    expect(await project.run(["generate"])).toMatchObject({ exitCode: 0, stderr: "" });
  });
});
