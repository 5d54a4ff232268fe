/**
 * A plan's title is a title. Models, asked to "please create a plan to visit Kyoto in spring", put the whole sentence
 * there; what is shown for confirmation and then stored is "Visit Kyoto in spring". Only ways of asking are taken away.
 */
import { cutText } from "../../protocol/text.ts";

export const TITLE_CHARS = 80;

const POLITE = String.raw`(?:(?:hi|hello|hey|ok|okay)\b[\s,.!]*)?(?:(?:please|kindly)[\s,]+)?(?:(?:can|could|would|will)\s+you\s+(?:please\s+)?)?(?:help\s+me\s+(?:to\s+)?)?`;
const WANT = String.raw`(?:i(?:['’]d|\s+would)\s+like|i\s+want|i\s+need)`;
const PLAN = String.raw`(?:(?:a|an|another|one|the|my)\s+)?(?:new\s+)?plan\b(?:\s+for\s+me\b)?`;
const LINK = String.raw`(?:\s+(?:to|for|about|on|that|which|called|named|titled|entitled|with\s+the\s+title)\b)?\s*[:,–-]?\s*`;
const EN_ASKING = [
  new RegExp(
    String.raw`^${POLITE}(?:${WANT}\s+(?:you\s+)?to\s+)?(?:please\s+)?(?:create|make|add|start|set\s+up|write|draft|build|save)\s+(?:(?:me|us)\s+)?${PLAN}${LINK}`,
    "iu",
  ),
  new RegExp(String.raw`^${POLITE}${WANT}\s+(?:to\s+have\s+)?${PLAN}${LINK}`, "iu"),
  new RegExp(String.raw`^${POLITE}(?:${WANT}|i\s+plan|i(?:['’]m|\s+am)\s+planning)\s+to\s+`, "iu"),
];
const EN_THANKS = /[\s,.!?]*\b(?:please|thanks|thank you|for me|to my plans|if you can)[\s.!?]*$/iu;

const ZH_POLITE = "(?:(?:你好|您好)[，,！!。\\s]*)?(?:请|麻烦您?你?|拜托|能不能|可不可以|能否|可以|帮忙)*";
const ZH_FOR_ME = "(?:帮我|给我|替我|为我)?(?:我(?:想要?|要|需要))?(?:请)?";
const ZH_MAKE = "(?:创建|新建|建立|制定|制订|添加|增加|拟定|做|写|建|加)(?:一下)?(?:一个|一份|一项|个|份)?(?:新的?)?";
const ZH_ASKING = new RegExp(
  `^${ZH_POLITE}${ZH_FOR_ME}${ZH_MAKE}计划(?:[，,：:\\s]*(?:叫做?|名为|名叫|名字是|标题是|标题为|内容是|是)|[：:，,])?\\s*`,
  "u",
);
const ZH_WRAPPED = new RegExp(
  `^${ZH_POLITE}${ZH_FOR_ME}${ZH_MAKE}(?:关于|名为|叫做?|标题为)?(.+?)的?计划[。！!？?\\s]*$`,
  "u",
);
const ZH_WANT = /^(?:我(?:想要?|打算|计划|准备))(?!法)\s*/u;
const ZH_THANKS = /[，,。！!？?\s]*(?:谢谢[你您]?|多谢|好吗|可以吗|行吗|吧)[。！!？?\s]*$/u;

const QUOTED = /^(?:"([^"]+)"|“([^”]+)”|「([^」]+)」|『([^』]+)』|《([^》]+)》|'([^']+)'(?!\w))[\s.。!！]*$/u;
/** A full stop ends one only after a word of some length: "St. Petersburg" and "Dr. Wu" stay whole. */
const SENTENCE = /^([^]+?)(?:(?<=[\p{L}\p{N}]{4}[”"’']?)\.(?=\s+[\p{L}\p{N}])|[!?](?=\s)|[。！？\r\n])/u;

/** Of a new plan. Empty where nothing but asking was said. */
export function titleOf(said: string): string {
  const text = thanked(tidy(firstSentence(said)));
  const wrapped = ZH_WRAPPED.exec(text)?.[1];
  const asking = [...EN_ASKING, ZH_ASKING].find((pattern) => pattern.test(text));
  const bare = asking ? text.replace(asking, "") : (wrapped ?? text.replace(ZH_WANT, ""));
  return asTitle(bare);
}

/** Of a title that somebody gave as one: only tidied, bounded and capitalised. */
export function asTitle(given: string): string {
  const text = tidy(given);
  const quoted = QUOTED.exec(text)
    ?.slice(1)
    .find((inner) => inner !== undefined);
  const bare = (quoted ?? text).replace(/[\s.。,，;；:：!！]+$/u, "");
  return capitalised(bounded(bare));
}

function tidy(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, " ")
    .replaceAll(/[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu, "")
    .replaceAll(/\s+/gu, " ")
    .trim();
}

/** The first sentence that is longer than a greeting. */
function firstSentence(text: string): string {
  const rest = text.trim().replace(/^(?:hi|hello|hey|你好|您好)(?: there)?[!.！。,，\s]+/iu, "");
  return SENTENCE.exec(rest)?.[1] ?? rest;
}

function thanked(text: string): string {
  const shorter = text.replace(EN_THANKS, "").replace(ZH_THANKS, "");
  return shorter === text ? text : thanked(shorter);
}

function bounded(text: string): string {
  if (text.length <= TITLE_CHARS) return text;
  const cut = cutText(text, TITLE_CHARS);
  const space = cut.lastIndexOf(" ");
  return (space > TITLE_CHARS / 2 ? cut.slice(0, space) : cut).replace(/[\s,;:]+$/u, "");
}

/** "iPhone" and "eBay" stay as they are. */
function capitalised(text: string): string {
  return /^\p{Ll}(?!\p{Lu})/u.test(text) ? text.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase()) : text;
}
