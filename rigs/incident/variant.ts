/**
 * The incident: a model that is to lay out what stands on a picture, an OCR tool that returns nonsense for it, a format
 * tool that does not take the nonsense, and a model that goes on trying. Three ways in which it can go.
 */
export const VARIANTS = {
  declared: {
    title: "OCR output declared as clean text",
    tells: "The tool says what it returns, so the service finds the nonsense before the model is told of it.",
    clean: true,
    varies: false,
  },
  string: {
    title: "OCR output declared as a string",
    tells: "Any string will do, so the format tool is the first to notice. The model hands in the same text again.",
    clean: false,
    varies: false,
  },
  "ping-pong": {
    title: "Back and forth between OCR and format",
    tells: "Each look at the picture gives another nonsense, so no call of the format tool is the same as one before.",
    clean: false,
    varies: true,
  },
} as const;
export type VariantName = keyof typeof VARIANTS;
export type Variant = (typeof VARIANTS)[VariantName];

/** After so many requests the model of the incident gave up by itself. */
export const INCIDENT_STEPS = 32;

/** Stands in for the picture, which went along with every request. The same on every machine. */
export const PICTURE = `data:image/png;base64,${letters(30_000, 7)}`;

/** What comes out for it: half a page. */
export const nonsense = (look: number): string =>
  Array.from({ length: 30 }, (_, n) => `縺薙${letters(12, look * 100 + n + 1)}�`).join(" ");

function letters(length: number, seed: number): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  let state = seed;
  const next = () => (state = (state * 48_271) % 2_147_483_647);
  return Array.from({ length }, () => alphabet[next() % alphabet.length]).join("");
}
