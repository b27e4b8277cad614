import { expect, it } from "vitest";
import { placeName } from "../src/cli/copy/run-move.js";

it("tells programs no user, password or parameter of a URL", () => {
  expect(
    placeName("/home/ada", "postgres://ada:se/cr@e?t@db.example:5432,db2:5432/app?prefix=x"),
  ).toBe("postgres://db.example:5432,db2:5432/app");
  expect(placeName("/home/ada", "etcd://10.0.0.1:2379/app")).toBe("etcd://10.0.0.1:2379/app");
  expect(placeName("/home/ada", "sqlite:data/app.sqlite")).toBe("sqlite:/home/ada/data/app.sqlite");
});
