import * as core from "@keywright/core";
import * as tools from "@keywright/core/tools";
import * as orm from "@keywright/orm";
import { compileModel } from "@keywright/orm/codegen";
import * as migrate from "@keywright/orm/migrate";
import * as zod from "zod";

/**
 * Returns the `require` of a program.
 *
 * @param onOpen is called with each database that the program opens.
 * @param places gets what the first parts of keys mean: `users_by_email` → `index byEmail of users`.
 * @param playground the exports of the module "playground".
 */
export function modulesOf({ onOpen, places, playground }) {
  async function openKv(...options) {
    const kv = await core.openKv(...options);
    onOpen(kv);
    return kv;
  }
  async function createDatabase(options) {
    const db = await orm.createDatabase(options);
    for (const model of Object.values(options.models)) learnPlaces(compileModel(model), places);
    return db;
  }
  const modules = {
    "@keywright/core": { ...core, openKv },
    "@keywright/core/tools": tools,
    "@keywright/orm": { ...orm, createDatabase },
    "@keywright/orm/migrate": migrate,
    playground,
    zod,
  };
  return (name) => {
    if (!Object.hasOwn(modules, name))
      throw new Error(
        `The playground has no module "${name}". It has ${Object.keys(modules).join(", ")}.`,
      );
    // Tells the compiled program that this is an ES module, whose default is its export "default".
    return { ...modules[name], __esModule: true };
  };
}

function learnPlaces({ name, place, indexes }, places) {
  places.set(place, `rows of ${name}`);
  for (const index of indexes) {
    const kind =
      index.text === undefined ? (index.unique ? "unique index" : "index") : "full-text index";
    places.set(index.place, `${kind} ${index.name} of ${name}`);
  }
}
