import { defineModel } from "@keywright/orm";
import * as z from "zod";

export const City = defineModel({
  name: "cities",
  schema: z.object({
    id: z.ulid(),
    cityId: z.int().describe("The city's number in GeoNames."),
    name: z.string(),
    country: z.string().length(2).describe("ISO 3166-1 alpha-2 code."),
    adminCode: z.string().describe("First-level division, such as a state or a region."),
    featureCode: z.string().describe("What kind of place it is: PPL, PPLA, PPLC, …"),
    population: z.int().min(0),
    location: z.object({ longitude: z.number(), latitude: z.number() }).describe("In degrees."),
  }),
  primaryKey: "id",
  indexes: {
    byCityId: { key: "cityId", unique: true },
    byCountry: { key: "country" },
    byPopulation: { key: "population" },
  },
});
