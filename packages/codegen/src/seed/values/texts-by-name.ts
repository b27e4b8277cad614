import type { Place } from "./place.js";

type MakeText = (place: Place) => string;

const people =
  /(user|person|people|member|author|customer|employee|player|contact|account|student|patient)/i;
const companies = /(compan|organi[sz]ation|tenant|vendor|supplier|shop|store|brand)/i;

/** Makes a plausible text for a field, by the end of its name. */
const byName: readonly (readonly [RegExp, MakeText])[] = [
  [/e?mail(Address)?$/i, ({ fakes }) => fakes.faker.internet.email().toLowerCase()],
  [/first_?name$/i, ({ fakes }) => fakes.faker.person.firstName()],
  [/(last_?name|surname)$/i, ({ fakes }) => fakes.faker.person.lastName()],
  [
    /(user_?name|login|handle|nick_?name)$/i,
    ({ fakes }) => fakes.faker.internet.username().toLowerCase(),
  ],
  [/(full_?name|display_?name|author|owner)$/i, ({ fakes }) => fakes.faker.person.fullName()],
  [/(company|organi[sz]ation)(_?name)?$/i, ({ fakes }) => fakes.faker.company.name()],
  [/product(_?name)?$/i, ({ fakes }) => fakes.faker.commerce.productName()],
  [/name$/i, nameOf],
  [/(phone|mobile|tel)(_?number)?$/i, ({ fakes }) => fakes.faker.phone.number()],
  [/(street|address|address_?line)\d?$/i, ({ fakes }) => fakes.faker.location.streetAddress()],
  [/(city|town)$/i, ({ fakes }) => fakes.faker.location.city()],
  [/country_?code$/i, ({ fakes }) => fakes.faker.location.countryCode()],
  [/country$/i, ({ fakes }) => fakes.faker.location.country()],
  [/(state|region|province)$/i, ({ fakes }) => fakes.faker.location.state()],
  [/(zip|postal_?code|post_?code|zip_?code)$/i, ({ fakes }) => fakes.faker.location.zipCode()],
  [/time_?zone$/i, ({ fakes }) => fakes.faker.location.timeZone()],
  [/currency(_?code)?$/i, ({ fakes }) => fakes.faker.finance.currencyCode()],
  [
    /(locale|language)(_?code)?$/i,
    ({ fakes }) => fakes.faker.helpers.arrayElement(["en", "de", "fr", "es", "ja"]),
  ],
  [/(avatar|image|photo|picture|thumbnail)(_?url)?$/i, ({ fakes }) => fakes.faker.image.url()],
  [/(url|uri|website|link|homepage)$/i, ({ fakes }) => fakes.faker.internet.url()],
  [/(domain|host|hostname)$/i, ({ fakes }) => fakes.faker.internet.domainName()],
  [/ip(_?address)?$/i, ({ fakes }) => fakes.faker.internet.ipv4()],
  [/user_?agent$/i, ({ fakes }) => fakes.faker.internet.userAgent()],
  [
    /(password|hash|token|secret|key|signature)$/i,
    ({ fakes }) => fakes.faker.string.alphanumeric(32),
  ],
  [/slug$/i, ({ fakes }) => fakes.faker.lorem.slug()],
  [
    /(title|subject|headline|heading)$/i,
    ({ fakes }) => capitalized(fakes.faker.lorem.words({ min: 2, max: 5 })),
  ],
  [/(body|content|text|article)$/i, ({ fakes }) => fakes.faker.lorem.paragraph()],
  [
    /(description|bio|summary|comment|note|notes|message|about)$/i,
    ({ fakes }) => fakes.faker.lorem.sentence(),
  ],
  [/colou?r$/i, ({ fakes }) => fakes.faker.color.human()],
  [/(category|department)$/i, ({ fakes }) => fakes.faker.commerce.department()],
  [
    /(sku|code|reference|ref)$/i,
    ({ fakes }) => fakes.faker.string.alphanumeric({ length: 8, casing: "upper" }),
  ],
  [/(job|position|profession)(_?title)?$/i, ({ fakes }) => fakes.faker.person.jobTitle()],
  [/month$/i, ({ fakes }) => fakes.faker.date.recent({ days: 700 }).toISOString().slice(0, 7)],
  [/(tag|tags|label|labels|keyword|keywords)$/i, ({ fakes }) => fakes.faker.lorem.word()],
];

/** Returns a text for a field without a format, such as a city for `city`. */
export function textByName(place: Place): string {
  // In a list, the name is that of the list.
  const name = String(place.path.findLast((step) => typeof step === "string"));
  const make = byName.find(([pattern]) => pattern.test(name))?.[1];
  if (make !== undefined) return make(place);
  if (/id$/i.test(name)) return place.fakes.faker.string.alphanumeric(12);
  return place.fakes.faker.lorem.words({ min: 1, max: 3 });
}

function nameOf({ model, fakes: { faker } }: Place): string {
  if (people.test(model)) return faker.person.fullName();
  if (companies.test(model)) return faker.company.name();
  if (/(product|item|article)/i.test(model)) return faker.commerce.productName();
  return capitalized(faker.lorem.words({ min: 1, max: 2 }));
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
