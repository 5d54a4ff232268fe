/** The operations agent's part of the transcript. Data, no rules. */
import type { Scene } from "./scene.ts";

export const OPSPILOT_EN: readonly Scene[] = [];
export const OPSPILOT_ZH: readonly Scene[] = [];
