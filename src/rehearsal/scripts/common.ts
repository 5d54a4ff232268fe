/** What every script shares: the sentences that belong to no agent, and how a name is cut out of what people say. */
import type { Lang } from "../turn.ts";
import { COMMON_EN } from "./common-en.ts";
import { COMMON_ZH } from "./common-zh.ts";
import type { CommonScript } from "./script.ts";

export const COMMON: Readonly<Record<Lang, CommonScript>> = { en: COMMON_EN, zh: COMMON_ZH };

/** A name without the quotes around it and the stop after it. */
export const bare = (text: string | undefined): string =>
  (text ?? "")
    .trim()
    .replace(/[.!。！]+$/u, "")
    .replace(/^["“「『《'‘]\s*(.+?)\s*["”」』》'’]$/u, "$1")
    .trim();
