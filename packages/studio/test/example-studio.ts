import { startStudio } from "../src/index.js";
import { models, openExample, userOf } from "./example.js";

/** Starts a studio on example rows and prints its address. A row changes every second. */
const [users = "1000", port = "0"] = process.argv.slice(2);
const { kv, db } = await openExample(Number(users));
const studio = await startStudio({ kv, models, title: "example", port: Number(port) });
console.log(studio.url);
let turn = 0;
setInterval(() => {
  const where = { id: userOf(turn++ % 5).id };
  db.users.update({ where, data: { age: turn % 90 } }).catch(() => undefined);
}, 1000);
