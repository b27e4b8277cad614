// Plants the fault that the environment names when its file is loaded. See register.mjs.
import { faults } from "./faults/faults.mjs";
import { packages, plantFault } from "./plant-fault.mjs";

const name = process.env.KEYWRIGHT_PLANTED;
const fault = faults[name];
const place = fault && new URL(fault.file, packages).href;

export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context);
  if (url !== place) return loaded;
  const source = plantFault(name, fault, new TextDecoder().decode(loaded.source));
  // What hunts looks for it: without it, no campaign has loaded the file.
  return { ...loaded, source: `${source}\nglobalThis.plantedFault = ${JSON.stringify(name)};\n` };
}
